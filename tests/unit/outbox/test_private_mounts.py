"""Which mount a path belongs to, from the tables of Linux and macOS."""

import pytest

from relay_queue.mounts import filesystem_of, is_network, read_mount_output, read_mountinfo

MOUNTINFO = rb"""22 28 0:21 / /sys rw,nosuid shared:7 - sysfs sysfs rw
28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
31 28 0:27 / /home rw,relatime shared:12 - nfs4 files.example:/home rw,vers=4.2,addr=192.0.2.7
32 31 254:0 /srv/ana /home/ana rw,relatime shared:13 - ext4 /dev/vda rw
33 28 0:28 / /mnt/Ana\040Mar\303\255a rw - fuse.sshfs ana@files.example:/ rw,user_id=1000
34 28 0:29 / /mnt/back\134slash\011tab rw shared:14 master:3 - cifs //files.example/x rw
35 28 0:30 / /merged rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w
36 28 0:31 / /data rw - ext4 /dev/vdb rw
37 28 0:32 / /data rw - nfs files.example:/data rw
38 28 0:33 /inside /bound rw - nfs files.example:/export rw
39 28 0:34 / /windows rw - 9p drvfs rw,aname=drvfs;path=C:\134
broken line
40 28 0:35 / /cut
"""

MACOS = b"""/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
devfs on /dev (devfs, local, nobrowse)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse, protect)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
//ana@files.example/share on /Volumes/Ana (share) (smbfs, nodev, nosuid, mounted by ana)
files.example:/export on /Volumes/nfs on disk (nfs, asynchronous)
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("/etc/x", "ext4", id="root"),
        pytest.param("/sys", "sysfs", id="the-mount-point-itself"),
        pytest.param("/home/bob/queue", "nfs4", id="below-a-network-mount"),
        pytest.param("/home/ana/queue", "ext4", id="local-bind-mount-in-a-network-mount"),
        pytest.param("/home/anabel/queue", "nfs4", id="a-name-that-only-begins-like-a-mount"),
        pytest.param("/mnt/Ana María/queue", "fuse.sshfs", id="blank-and-utf8-escapes"),
        pytest.param("/mnt/back\\slash\ttab/q", "cifs", id="backslash-and-tab-escapes"),
        pytest.param("/merged/queue", "overlay", id="overlay"),
        pytest.param("/data/queue", "nfs", id="mounted-over-counts-the-last"),
        pytest.param("/bound/queue", "nfs", id="bind-mount-of-a-network-directory"),
        pytest.param("/windows/q", "9p", id="hyphen-free-options"),
        pytest.param("/cut/q", "ext4", id="a-cut-line-is-ignored"),
    ],
)
def test_mountinfo(path: str, expected: str) -> None:
    """The longest mount point above a path decides, whatever its name is made of."""
    assert filesystem_of(path.encode(), read_mountinfo(MOUNTINFO)) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("/Users/ana", "apfs", id="root"),
        pytest.param("/System/Volumes/Data/home/x", "autofs", id="deeper"),
        pytest.param("/Volumes/Ana (share)/queue", "smbfs", id="parentheses-in-the-name"),
        pytest.param("/Volumes/nfs on disk/queue", "nfs", id="the-word-on-in-the-name"),
    ],
)
def test_mount_output(path: str, expected: str) -> None:
    """macOS's listing is read from both ends, so that names may hold blanks and brackets."""
    assert filesystem_of(path.encode(), read_mount_output(MACOS)) == expected


def test_no_mounts_no_answer() -> None:
    """Where no mount covers a path, or no table can be had, nothing is claimed."""
    assert filesystem_of(b"/x", read_mountinfo(b"")) is None
    assert filesystem_of(b"/x", read_mountinfo(b"31 28 0:27 / /home rw - nfs4 files.example:/ rw\n")) is None


def test_a_bytes_path_needs_no_encoding() -> None:
    """A mount point that is not UTF-8 is matched byte by byte."""
    table = b"1 0 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / /mnt/\xff\\040x rw - nfs h:/ rw\n"
    assert filesystem_of(b"/mnt/\xff x/q", read_mountinfo(table)) == "nfs"


@pytest.mark.parametrize(
    "fstype", ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "fuse.sshfs", "fuse.rclone", "SMBFS"]
)
def test_network_file_systems(fstype: str) -> None:
    """These share a directory between machines, so neither locks nor the WAL can be trusted."""
    assert is_network(fstype)


@pytest.mark.parametrize(
    "fstype", ["ext4", "btrfs", "apfs", "overlay", "tmpfs", "zfs", "fuseblk", "fuse.gocryptfs"]
)
def test_local_file_systems(fstype: str) -> None:
    """These belong to one machine."""
    assert not is_network(fstype)
