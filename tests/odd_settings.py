"""Settings files as people and programs really leave them: odd, but each of them can be read by its CLI."""

from __future__ import annotations

__all__ = ("BROKEN_JSON", "BROKEN_TOML", "CLOSED_TOML", "FOREIGN_GROUP", "JSON", "TOML")

FOREIGN_GROUP = {
    "matcher": "Bash",
    "hooks": [{"type": "command", "command": "other-tool check", "timeout": 30}],
}
"""A hook of another tool."""

_FORMATTED = """{
  "$schema": "https://example.org/settings.json",
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "other-tool check",
            "timeout": 30
          }
        ]
      }
    ],
    "Stop": [
      { "hooks": [{ "type": "command", "command": "say done" }] }
    ]
  },
  "mcpServers": {
    "other": { "type": "stdio", "command": "other", "args": ["a", "b"], "env": { "TOKEN": "t-0123456789abcdef" } }
  },
  "permissions": { "allow": ["Bash(ls:*)"], "deny": [] }
}
"""

JSON: dict[str, bytes] = {
    "empty object": b"{}",
    "empty object on a line": b"{}\n",
    "empty object with a space": b"{ }",
    "empty object over two lines": b"{\n}\n",
    "empty object over two CRLF lines": b"{\r\n}\r\n",
    "empty object with blank lines around it": b"\n\n  {  }  \n\n",
    "formatted": _FORMATTED.encode(),
    "no final newline": _FORMATTED.rstrip().encode(),
    "four spaces": _FORMATTED.replace("  ", "    ").encode(),
    "three spaces": _FORMATTED.replace("  ", "   ").encode(),
    "tabs": _FORMATTED.replace("  ", "\t").encode(),
    "CRLF": _FORMATTED.replace("\n", "\r\n").encode(),
    "BOM": b"\xef\xbb\xbf" + _FORMATTED.encode(),
    "BOM and CRLF": b"\xef\xbb\xbf" + _FORMATTED.replace("\n", "\r\n").encode(),
    "BOM and an empty object": b"\xef\xbb\xbf{}",
    "one line": b'{"model":"opus","hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[]}]},"z":[1,2,3]}',
    "one line with spaces": b'{ "model": "opus", "hooks": { "Stop": [ { "hooks": [ ] } ] }, "z": [ 1, 2, 3 ] }\n',
    "one line with a final CRLF": b'{"a": 1}\r\n',
    "spaces around colons": b'{"a" : 1 , "b" : {"c" : []}}',
    "colons on lines of their own": b'{\n  "a"\n  :\n  1\n}\n',
    "no indent": b'{\n"a": 1,\n"hooks": {\n"Stop": [\n{}\n]\n}\n}\n',
    "indented as a whole": b'   {\n      "a": 1,\n      "hooks": {}\n   }\n',
    "comma first": b'{ "a": 1\n, "b": 2\n, "hooks": { "Stop": [] }\n}\n',
    "brackets on one line": b'{\n  "hooks": {\n    "Stop": [{\n      "hooks": [{\n        "type": "command"\n      }]\n    }]\n  }\n}\n',
    "no hooks but empty ones": b'{\n  "hooks": {},\n  "mcpServers": {}\n}\n',
    "empty arrays": b'{\n  "hooks": {\n    "Stop": [],\n    "SessionEnd": [ ],\n    "PreCompact": [\n    ]\n  }\n}\n',
    "empty containers with white space": b'{\n  "hooks": { \n\n },\n  "mcpServers": {\t},\n  "x": [ \n ]\n}\n',
    "empty containers on one line": b'{"a": 1, "hooks": { }, "mcpServers": {\t }, "z": [ ]}',
    "hooks are last": b'{"z": 1, "hooks": {"Stop": [{"hooks": []}]}}',
    "hooks are first": b'{"hooks": {"Stop": [{"hooks": []}]}, "z": 1}',
    "lines end with spaces": b'{  \n  "a": 1,   \n  "hooks": {  \n  },  \n  "b": 2  \n}  \n  \n',
    "blank lines between": b'{\n\n  "a": 1,\n\n  "b": 2\n\n}\n\n\n',
    "mixed ends of line": b'{\r\n  "a": 1,\n  "hooks": {\r\n    "Stop": [\n    ]\r\n  }\n}\r\n',
    "Unicode": '{\n  "языки": "日本語 🚀 é é",\n  "hooks": {},\n  "\u2028": "\u2029\u0085\ufeff"\n}\n'.encode(),
    "escapes": rb'{"a": "\u00e9\/\\\"\b\f\n\r\t", "b": "\ud83d\ude80", "half": "\ud800", "\u0061\u0062": "\u0000"}',
    "hooks spelt with escapes": rb'{"h\u006foks": {"St\u006fp": [{"hooks": []}]}, "mcp\u0053ervers": {}}',
    "brackets and commas in texts": b'{"a": "}],{[\\"", "hooks": {"Stop": [{"x": "]}"}]}, "},": "\\\\"}',
    "big numbers": b'{"a": 1e400, "b": 12345678901234567890, "c": -0.0, "d": 1.10, "e": 1E+2, "f": 0.1000000000000000055}',
    "very long number": b'{"a": ' + b"9" * 5000 + b', "b": 1.' + b"3" * 5000 + b"}",
    "deep nesting": b'{"deep": ' + b'[{"a": ' * 100 + b"[]" + b"}]" * 100 + b', "hooks": {}}',
    "null and odd names": b'{"": null, " hooks": 1, "Hooks": {}, "__proto__": {}, "hooks.Stop": [], "true": true}',
    "many members": b"{\n"
    + b"".join(b'  "key %d": [%d, {}],\n' % (at, at) for at in range(200))
    + b'  "hooks": {}\n}\n',
    "a long line": b'{"text": "' + b"x" * 200_000 + b'", "hooks": {"Stop": [{}]}}',
}
"""Files of JSON by what is odd about them."""

BROKEN_JSON: dict[str, tuple[bytes, str]] = {
    "text": (b"SECRETWORD", "line 1, column 1: it is no JSON from here on"),
    "not closed": (
        b'{"a": {\n  "b": 1\n',
        "line 3, column 1: it ends before all brackets are closed",
    ),
    "text not closed": (
        b'{\n  "SECRETWORD\n}',
        "line 2, column 14: a text has an end of line or another control character in it",
    ),
    "text without end": (b'{\n  "a": "SECRETWORD', "line 2, column 8: a text has no closing quotation mark"),
    "two documents": (b"{}\n{}", "line 2, column 1: it is no JSON from here on"),
    "line comment": (b'{\n  // SECRETWORD\n  "a": 1\n}', "line 2, column 3: comments are not JSON"),
    "comment after a comma": (
        b'{\n  "a": 1, // SECRETWORD\n  "b": 2\n}',
        "line 2, column 11: comments are not JSON",
    ),
    "comment before a comma": (
        b'{\n  "a": 1 /* SECRETWORD */\n}',
        "line 2, column 10: comments are not JSON",
    ),
    "comment at the end": (b"{}\n# SECRETWORD", "line 2, column 1: comments are not JSON"),
    "comma before a brace": (
        b'{\n  "a": 1,\n}\n',
        "line 3, column 1: no comma may stand before a closing bracket",
    ),
    "comma before a bracket": (
        b'{"a": [1, 2, ]}',
        "line 1, column 14: no comma may stand before a closing bracket",
    ),
    "no comma": (b'{\r\n"a": 1\r\n"b": 2}', "line 3, column 1: it is no JSON from here on"),
    "no colon": (b'{"a" 1}', "line 1, column 6: it is no JSON from here on"),
    "single quotation marks": (b"{'a': 1}", "line 1, column 2: it is no JSON from here on"),
    "bare key": (b"{SECRETWORD: 1}", "line 1, column 2: it is no JSON from here on"),
    "NaN": (b'{"a": NaN}', "NaN and Infinity are not JSON"),
    "Infinity": (b'{"a": [-Infinity]}', "NaN and Infinity are not JSON"),
    "leading zero": (b'{"a": 01}', "line 1, column 8: it is no JSON from here on"),
    "line end in a text": (
        b'{"a": "SECRET\nWORD"}',
        "line 1, column 14: a text has an end of line or another control character in it",
    ),
    "bad escape": (rb'{"a": "\x41"}', "line 1, column 8: it is no JSON from here on"),
    "key twice": (
        b'{"a": 1,\n "SECRETWORD": 1, "SECRETWORD": 2}',
        "line 2, column 19: an object has the same key twice",
    ),
    "key twice by an escape": (
        rb'{"ab": 1, "\u0061b": 2}',
        "line 1, column 11: an object has the same key twice",
    ),
    "key twice within": (
        b'[{"a": [{"b": 1}, {"b": 1, "b": 1}]}]',
        "line 1, column 28: an object has the same key twice",
    ),
    "nested without end": (b"[" * 200_000, "it is nested too deeply"),
    "not UTF-8": (b'{\n"SECRETWORD": "\xff"}', "line 2, column 16: it is not UTF-8"),
    "half of a character at the end": (b'{"a": "\xc3', "line 1, column 8: it is not UTF-8"),
    "UTF-16": ("{}".encode("utf-16"), "line 1, column 1: it is UTF-16, not UTF-8"),
    "two byte order marks": (b"\xef\xbb\xbf\xef\xbb\xbf{}", "line 1, column 1: it is no JSON from here on"),
    "NUL": (b"{}\0", "line 1, column 3: it is no JSON from here on"),
}
"""Files that are refused, and what the refusal says."""

_CODEX = """# my settings
model = "gpt-5"   # the good one
approval_policy = "on-request"

[mcp_servers.other]
command = "other"
args = [ "a", 'b' ]
env = { TOKEN = "t-0123456789abcdef" }

# what follows is written by the program
[hooks.state."/home/me/.codex/config.toml:stop:0:0"]
trusted_hash = "sha256:0123"

[projects."/home/me/a b"]
trust_level = "trusted"
"""
_HOOKS = """
[[hooks.PreToolUse]]
matcher = "^Bash$"

[[hooks.PreToolUse.hooks]]
type = "command"
command = "other-tool check" # mine
timeout = 30

[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = 'say "done"'

# the end of the hooks
"""

TOML: dict[str, bytes] = {
    "empty": b"",
    "a blank line": b"\n",
    "white space": b"  \n\t",
    "CRLF alone": b"\r\n",
    "a comment": b"# nothing here",
    "a comment on a line": b"# nothing here\n",
    "formatted": _CODEX.encode(),
    "no final newline": _CODEX.rstrip().encode(),
    "CRLF": _CODEX.replace("\n", "\r\n").encode(),
    "CRLF without a final one": _CODEX.rstrip().replace("\n", "\r\n").encode(),
    "BOM": b"\xef\xbb\xbf" + _CODEX.encode(),
    "BOM alone": b"\xef\xbb\xbf",
    "BOM and CRLF": b"\xef\xbb\xbf" + _CODEX.replace("\n", "\r\n").encode(),
    "many blank lines at the end": (_CODEX + "\n\n\n").encode(),
    "spaces at the end": (_CODEX + "   ").encode(),
    "a comment at the end": (_CODEX + "# the end").encode(),
    "hooks": (_CODEX + _HOOKS).encode(),
    "hooks in CRLF": (_CODEX + _HOOKS).replace("\n", "\r\n").encode(),
    "hooks first": (_HOOKS.lstrip() + _CODEX[_CODEX.index("[mcp") :]).encode(),
    "hooks apart": b'[[hooks.Stop]]\nmatcher = "a"\n[z]\n[[hooks.Stop]]\n[y]\na = 1\n[[hooks.Stop.hooks]]\ntype = "x"\n',
    "hooks in arrays": b'[hooks]\nStop = [ { hooks = [ { type = "command", command = "say" } ] } ]\nPreToolUse = []\n',
    "hooks in arrays over lines": b"[hooks]\nStop = [\n  { hooks = [] },\n  { hooks = [] }\n]\n\n[z]\n",
    "arrays with a last comma": b"[hooks]\nStop = [\n\t{ hooks = [] }, # one\n\t{ hooks = [] }, # two\n\t# three\n]\n",
    "arrays with comments": b"[hooks]\nStop = [ # none\n  # yet\n]\nSessionEnd = [\n  {} # one\n  # two\n]\n",
    "arrays with commas first": b"[hooks]\nStop = [\n  {} # one\n, {}\n]\n",
    "hooks in a line": b'hooks = { Stop = [{ hooks = [{ command = "say" }] }] }\nmcp_servers = { other = { command = "o" } }\n',
    "hooks in an empty line": b"hooks = {}\nmcp_servers = { }",
    "hooks with dots": b'hooks.Stop = [{ hooks = [] }]\nmcp_servers.other.command = "o"\nmcp_servers.other.args = []\n\n[z]\n',
    "tables with dots": b'[mcp_servers]\nother.command = "o"\nother.env.A = "b"\n[hooks]\nstate."a:b".trusted_hash = "x"\n',
    "headers with spaces": b'[ mcp_servers . "other" ] # o\n  command = "o"\n[[ hooks . \'Stop\' ]]\n  matcher = "x"\n',
    "empty headers": b"[hooks]\n[mcp_servers]\n[z]\n",
    "empty header at the end": b"[z]\n[mcp_servers]",
    "texts that look like headers": b'a = """\n[[hooks.Stop]]\n[mcp_servers.relay]\n"""\nb = \'\'\'\n[hooks]\n\'\'\'\n"[c]" = "# d"\n',
    "all kinds of texts": b'a = "\\"\\\\"\nb = \'c:\\\'\nc = """"q" \\""""""\nd = \'\'\'\'q\' \'\'\'\'\ne = ""\nf = \'\'\ng = """"""\n',
    "all kinds of values": b"a = 1979-05-27 07:32:00 # a\nb = nan\nc = -inf\nd = 0xDEAD_beef\ne = 1_000.5e-3\nf = [1, [2, 3], {a = [\n]}]\ng = 07:32:00\n",
    "big numbers": b"a = 123456789012345678901234567890\nb = 1e400\n",
    "Unicode": '"ключ" = "日本語 🚀 \\u00e9"\n[mcp_servers."сервер"]\ncommand = "o"\n'.encode(),
    "mixed ends of line": b'a = 1\r\nb = 2\n\r\n[mcp_servers.other]\ncommand = "o"\r\n[z]\n',
    "deep nesting": b"a = " + b"[" * 60 + b"]" * 60 + b"\n",
    "many tables": b"".join(b'[projects."/p/%d"]\ntrust_level = "trusted"\n\n' % at for at in range(60)),
}
"""Files of TOML by what is odd about them."""

CLOSED_TOML = {
    "arrays with comments": {"codex"},
    "hooks in a line": {"codex", "grok"},
    "hooks in an empty line": {"codex", "grok"},
}
"""Those that nothing can be added to, so that setup refuses them, and for which CLIs."""

BROKEN_TOML: dict[str, tuple[bytes, str]] = {
    "text": (b"SECRETWORD", "no TOML"),
    "no value": (b"a = 1\nSECRETWORD = \n", "line 2, column 14: it is no TOML from here on"),
    "key twice": (b"a = 1\na = 'SECRETWORD'\n", "it is no TOML"),
    "table twice": (b"[SECRETWORD]\n[SECRETWORD]\n", "it is no TOML"),
    "header not closed": (b"[a\n", "line 1, column 3: it is no TOML from here on"),
    "line end in a table": (b"a = { b = 'SECRETWORD',\n}\n", "it is no TOML"),
    "carriage return": (b"a = 1\rb = 2\r", "it is no TOML"),
    "nested without end": (b"a = " + b"[" * 100_000, "it is nested too deeply"),
    "not UTF-8": (b"a = 'SECRETWORD\xff'", "line 1, column 16: it is not UTF-8"),
}
"""Files that are refused, and a part of what the refusal says."""
