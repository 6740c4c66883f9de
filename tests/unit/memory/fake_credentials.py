"""Fakes of credentials, put together so that nothing that looks like one stands in this file; and what is taken for one."""

__all__ = ("FAKES", "FALSE_ALARMS", "NAMED", "SURROUNDINGS", "TOKEN_CASES", "pem")

LOWER = "q7w2e9r4t1y6u3i8o5p0a7s2d9f4g1h6"
MIXED = "Zq7Xw2Ce9Vr4Bt1Ny6Mu3Ki8Lo5Jp0Ha7Gs2Fd9D"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
UPPER = "Q7W2E9R4T1Y6U3I8O5P0A7S2D9F4G1H6"
DIGITS = "739184620573"


def mixed(chars):
    return (MIXED * 10)[:chars]


def hexed(chars):
    return (HEX * 4)[:chars]


def upper(chars):
    return (UPPER * 4)[:chars]


def pem(label):
    body = "\n".join(mixed(200)[start : start + 64] for start in range(0, 192, 64))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


FAKES = {
    "GitHub token": [
        f"gh{'p'}_{mixed(36)}", f"gh{'o'}_{mixed(36)}", f"gh{'s'}_{mixed(36)}", f"gh{'r'}_{mixed(36)}",
        f"github{'_pat_'}{mixed(22)}_{mixed(59)}",
    ],
    "GitLab token": [
        f"gl{'pat-'}{mixed(20)}", f"gl{'rt-'}{mixed(20)}", f"gl{'cbt-'}1_{mixed(20)}", f"GR13{'48941'}{mixed(20)}",
    ],
    "Anthropic key": [f"sk-{'ant'}-api03-{mixed(93)}AA", f"sk-{'ant'}-admin01-{mixed(93)}AA"],
    "OpenAI key": [f"sk-{'proj'}-{mixed(60)}T3Bl{'bkFJ'}{mixed(40)}", f"sk-{'svcacct'}-{mixed(60)}"],
    "OpenRouter key": [f"sk-{'or'}-v1-{hexed(64)}"],
    "API key": [f"sk-{mixed(20)}T3Bl{'bkFJ'}{mixed(20)}", f"sk-{mixed(32)}"],
    "Stripe key": [f"sk_{'live'}_{mixed(24)}", f"sk_{'test'}_{mixed(24)}", f"rk_{'live'}_{mixed(24)}"],
    "webhook secret": [f"whs{'ec_'}{mixed(32)}"],
    "AWS access key": [f"AK{'IA'}{upper(16)}", f"AS{'IA'}{upper(16)}", f"AB{'IA'}{upper(16)}"],
    "Google API key": [f"AI{'za'}Sy{mixed(33)}"],
    "Google access token": [f"ya{'29.'}{mixed(60)}"],
    "Google client secret": [f"GOC{'SPX-'}{mixed(28)}"],
    "Slack token": [f"xo{'xb-'}{DIGITS}-{DIGITS}-{mixed(24)}", f"xa{'pp-'}1-A1B2C3D4E5F-{DIGITS}-{hexed(64)}"],
    "Slack webhook": [f"https://hooks.{'slack'}.com/services/T01ABCDEF/B01ABCDEF/{mixed(24)}"],
    "Teams webhook": [
        f"https://shop.webhook.{'office'}.com/webhookb2/{hexed(36)}@{hexed(36)}/IncomingWebhook/{hexed(32)}/{hexed(36)}"
    ],
    "Discord webhook": [f"https://discord.com/api/{'webhooks'}/{DIGITS}123456/{mixed(40)}{mixed(28)}"],
    "Discord token": [f"{'M'}{mixed(23)}.{'Gx3k9Z'}.{mixed(38)}"],
    "Telegram bot token": [f"{DIGITS[:10]}:A{'A'}{mixed(33)}"],
    "SendGrid key": [f"S{'G.'}{mixed(22)}.{mixed(40)}123"],
    "Twilio key": [f"S{'K'}{hexed(32)}"],
    "Mailgun key": [f"ke{'y-'}{hexed(32)}"],
    "Mailchimp key": [f"{hexed(32)}-us{'12'}"],
    "npm token": [f"np{'m_'}{mixed(36)}"],
    "PyPI token": [f"py{'pi-'}AgEIcHlwaS5vcmc{mixed(60)}"],
    "RubyGems key": [f"ruby{'gems_'}{hexed(48)}"],
    "Docker token": [f"dckr{'_pat_'}{mixed(27)}"],
    "Hugging Face token": [f"h{'f_'}{mixed(34)}"],
    "Shopify token": [f"shp{'at_'}{hexed(32)}", f"shp{'ss_'}{hexed(32)}"],
    "DigitalOcean token": [f"dop{'_v1_'}{hexed(64)}"],
    "Vault token": [f"hv{'s.'}{mixed(95)}", f"hv{'b.'}{mixed(140)}"],
    "Databricks token": [f"da{'pi'}{hexed(32)}"],
    "Figma token": [f"fig{'d_'}{mixed(40)}"],
    "Linear token": [f"lin{'_api_'}{mixed(40)}"],
    "Notion token": [f"nt{'n_'}{DIGITS[:11]}{mixed(35)}", f"secr{'et_'}{mixed(43)}"],
    "Supabase token": [f"sb{'p_'}{hexed(40)}"],
    "Groq key": [f"gs{'k_'}{mixed(52)}"],
    "xAI key": [f"xa{'i-'}{mixed(80)}"],
    "Perplexity key": [f"pp{'lx-'}{mixed(48)}"],
    "Tavily key": [f"tv{'ly-'}dev-{mixed(32)}"],
    "NVIDIA key": [f"nv{'api-'}{mixed(64)}"],
    "Replicate token": [f"r{'8_'}{mixed(37)}"],
    "Mem0 key": [f"m{'0-'}{mixed(40)}"],
    "Hindsight key": [f"hs{'k-'}{mixed(32)}"],
    "ByteRover key": [f"br{'v_'}{mixed(32)}"],
    "Atlassian token": [f"ATA{'TT3'}xFfGF0{mixed(180)}"],
    "Grafana token": [f"gl{'sa_'}{mixed(32)}_{hexed(8)}"],
    "Postman key": [f"PM{'AK-'}{hexed(24)}-{hexed(34)}"],
    "Pulumi token": [f"pu{'l-'}{hexed(40)}"],
    "Heroku key": [f"HR{'KU-'}AA{mixed(58)}"],
    "Terraform token": [f"{mixed(14)}.atlas{'v1'}.{mixed(67)}"],
    "Azure client secret": [f"abc8Q{'~'}{mixed(34)}"],
    "Azure storage key": [f"Account{'Key='}{mixed(86)}=="],
    "Azure shared access key": [f"SharedAccess{'Key='}{mixed(43)}="],
    "Azure DevOps token": [f"{mixed(76)}AZ{'DO'}x7Y9"],
    "Azure shared access signature": [f"https://shop.blob.core.windows.net/x?sv=2024&s{'ig='}{mixed(43)}%3D"],
    "Artifactory key": [f"AK{'Cp'}{mixed(69)}"],
    "Alibaba access key": [f"LT{'AI'}{mixed(20)}"],
    "age secret key": [f"AGE-{'SECRET'}-KEY-1{upper(58)}"],
    "1Password secret key": [f"A{'3-'}{upper(6)}-{upper(11)}-{upper(5)}-{upper(5)}-{upper(5)}"],
    "private key": [pem("RSA PRIVATE KEY"), pem("PRIVATE KEY"), pem("OPENSSH PRIVATE KEY"), pem("PGP PRIVATE KEY BLOCK")],
    "JSON web token": [f"ey{'J'}hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{mixed(43)}"],
    "password in a URL": [
        f"postgres://shop:{'pa55w0rd'}@db.example.com/shop", f"https://u:{'p'}@h", f"redis://:{'x7y8z9'}@cache:6379/0",
        f"https://user:{'pass'}@example.com/repo.git",
    ],
}  # fmt: skip
TOKEN_CASES = [(kind, fake) for kind, fakes in FAKES.items() for fake in fakes]

P, S, T = "pass" + "word", "sec" + "ret", "tok" + "en"
NAMED = [
    (f"{P} = ", "hunter2abc", ""), (f"{P}: ", "Tr0ub4dor&3", ""), (f'"{P}": "', "s3cr3tp4ss", '"'), (f"DB_{P.upper()}=", "sh0pdb2024", "\n"),
    (f"the {P} is ", "hunter2abc", ", do not lose it"), (f"{P}=", "P@ssw0rd!x", ""), ("pwd: '", "hunter22hunter", "'"),
    (f"**{P.title()}:** `", "hunter2abc", "`"), (f"{P}\uff1a", "hunter2abc", "。"), ("密码\uff1a", "hunter2abc", ""), ("密码是", "hunter2abc", "\uff0c请保密"),
    ("пароль: ", "hunter2abc", "."), ("パスワード: ", "hunter2abc", ""), ("passphrase => '", "correct horse x9y8z7w6v5u4", "'"),
    ('api_key: "', MIXED[:24], '"'), (f"API-KEY={''}", MIXED[:32], "&x=1"), (f"client_{S} = ", mixed(32), ""),
    (f"aws_{S}_access_key = ", "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYzzzzzzzKEY", ""), (f"access_{T}: ", LOWER[:24], ""), (f"{T}=", hexed(40), ""),
    (f"auth {T} : '", "a1b2c3d4e5f6g7", "'"), (f"{S}: ", "k9x2-m4p7-q1w8-z3v6", ""), ("令牌: ", MIXED[:24], ""), ("private_key=", mixed(43) + "=", ""),
    ("DB_PASS=", "stage2026", ""), ("user ana, pass: ", "hunter2abc", ""), (f"{P} = ", "@dmin2024x", ""), (f"{P}: ", "%ab12cd34ef", ""),
    (f"--{P} ", "hunter2abc", ""), (f"--api-{T} ", MIXED[:24], " run"), ("curl -u ana:", "hunter2abc", " https://example.com"),
    ("Authorization: Bearer ", MIXED[:30], ""), ("Authorization: Basic ", "YW5hOmh1bnRlcjJhYmM=", ""),
    (f'{{\\"{P}\\": \\"', "hunter2abc", '\\"}'),
]  # fmt: skip
"""What stands before a value, the value, and what stands behind it."""

FALSE_ALARMS = [
    f"the {P} must have 12 characters", f"{T}: required", f"{P}: <your {P}>", f"{P}: <your-{P}-2024a>", f"{T}=${{TOKEN}}", f"{T}=$API_TOKEN_V2X3",
    'os.environ["API_KEY"]', 'api_key = os.environ["API_KEY_2A3B"]', "api_key: process.env.API_KEY_V2", f"{P} = get_{P}_v2x3(user)",
    "123e4567-e89b-12d3-a456-426614174000", "key: 123e4567-e89b-12d3-a456-426614174000", f"{T}: 123e4567-e89b-12d3-a456-426614174000",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8", f"sha256: {HEX}", f"sha256:{HEX}", f"image@sha256:{HEX}",
    "sk-learn", "use sk-learn-pipeline-with-many-steps", "sk-...", "sk-ant-...", "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxx", "AKIA", "keys begin with AKIA or ASIA",
    f"{P}=xxxxxxxx", f"{P}: ********", f"{T}: [REDACTED]", f"gh{'p_'}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_ tokens are refused",
    f"data:image/png;base64,iVBORw0KGgo{mixed(80)}=", "the API key lives in 1Password, vault shop/prod", f"{T}s: 128000", f"max_{T}s = 200000",
    f"{P} hashing: argon2id, 64 MiB", f"{P}: bcrypt, cost 12", f"{T}: base64url encoded", f"{T} is RS256 signed", f"{S}: hmac-sha256", f"{T} type: oauth2",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIU\n-----END CERTIFICATE-----", "a file that begins with -----BEGIN PRIVATE KEY----- is refused",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\n-----END PUBLIC KEY-----", "eyJ is how every JSON web token begins", f"{P}_file: /run/secrets/db_{P}_2024a",
    f"{S}_name: projects/shop/{S}s/api-v2", f"{T} url: https://example.com/oauth2/v1/{T}", "git@github.com:owner/repo.git", "ssh://git@github.com:22/owner/repo",
    "http://localhost:8080/path", "see https://example.com:8443, and mail ana@example.com", "postgres://<user>:<pass>@host/db", "https://${USER}:${PASS}@host/x",
    "https://user:***@example.com", f"{P} policy = min12, upper, digit", "risk-assessment-of-everything-2024", "hsk-prefix-of-some-thing-else", "m0-milestone",
    "brv_some_long_snake_case_name", "01JDC3ZV6Q8W2T4X5Y7B9N0M1K", "npm_config_registry", "npm_package_json_something", f"{T} bucket: refills every 250ms",
    f"{P}: changed on 2024-05-01", f"{P} reset mail goes to ana2024@example.com", "keyboard: ergodox-ez", "monkey = 3xGorilla99x2y3", "--token-limit 128000",
    "basic authentication is off", "Bearer authentication with short-lived-tokens-only", "SG. and SK are prefixes", "xoxb- is a bot", "pypi-publish-workflow",
    "令牌桶每秒补充一次", "密码必须至少有12个字符", "пароль должен быть длинным", "compass: north12east34", "key=value", "primary_key: user_id_2", "foreign key = shop_id2item_id3",
    f"set {P} = None", f"{T}: str | None = None", f"{S}s are in {S}s.yaml; see docs/{S}s.md", "arn:aws:iam::123456789012:role/shop", f"{S}: op://shop/db/field2a3b4c",
    "<protocol>://[<user>[:<password>]@]<hostname>", "https://[user:passwd@]proxy:3128", "-----BEGIN PRIVATE KEY-----\nXXXX\nXXXX\n-----END PRIVATE KEY-----",
    "first pass: iteration12 is done", "pass = attempt12", f"{S}: sha256:{HEX}", f"{P}: %DB_PASSW0RD2%", f"{P}: @DB_PASSWORD@", f"{T}: ./{T}s/2a3b4c5d6e7f.txt",
    "private_key: ed25519.Ed25519PrivateKey", f"{S}: HmacSHA256KeyProvider", "discord.com/api/webhooks/ID/TOKEN", "https://hooks.slack.com/services/T000/B000/XXXX", "uuid key 00000000-0000-0000-0000-000000000000", "v1.2.3-rc1+build5",
]  # fmt: skip
"""All of these were refused by one scanner or another."""

SURROUNDINGS = [
    ("", ""), ("see ", " there"), ("凭证为", "。谢谢"), ("キー「", "」"), ("(", ")"), ('"', '"'), ("'", "'"), ("`", "`"), ("[", "]"), ("<", ">"), ("{", "}"),
    ("key:", ""), ("=", ";"), ("é", "é"), ("\\n", "\\n"), ("\\u000a", "\\n"), ("%0A", "%20"), ("%3D", "%26"), ("/", "\n"), ("\n", "\n"), ("\t", "\t"),
    ("\uff0c", "\uff0c"), ("🔑", "🔑"), ("**", "**"), ("> ", "\r\n"), (", ", ", "), ("\x1b[31m", "\x1b[0m"),
]  # fmt: skip
