"""Three hosts on one machine, each in a network namespace of its own, joined by a switch; for root, and seen by this process alone."""

import ctypes
import subprocess

PARTIES = (0, 1, 2)
ADDRESSES = ["10.77.0.1", "10.77.0.2", "10.77.0.3"]
CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
NOBODY = "02:00:00:00:00:99"


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Network:
    """The hosts p0, p1 and p2, and what can be done to the link of p1. They end with this process."""

    def __init__(self):
        """This process leaves the machine's network and mounts, so that several of these do not meet. Throws OSError for who may not."""
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNS | CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "this process cannot have a network of its own")
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        subprocess.run(["mkdir", "-p", "/run/netns"], check=True)
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run/netns"], check=True)
        ip("link", "add", "switch", "type", "bridge")
        ip("link", "set", "switch", "up")
        for party in PARTIES:
            host = f"p{party}"
            ip("netns", "add", host)
            ip("link", "add", f"wire{party}", "type", "veth", "peer", "name", "eth0", "netns", host)
            ip("link", "set", f"wire{party}", "master", "switch", "up")
            ip("-n", host, "addr", "add", f"{ADDRESSES[party]}/24", "dev", "eth0")
            ip("-n", host, "link", "set", "eth0", "up")
            ip("-n", host, "link", "set", "lo", "up")

    @staticmethod
    def at(party, *words):
        """A command line that runs at that party's host."""
        return ["ip", "netns", "exec", f"p{party}", *words]

    @staticmethod
    def cut():
        ip("link", "set", "wire1", "down")

    @staticmethod
    def mend():
        ip("link", "set", "wire1", "up")

    @staticmethod
    def cut_half():
        """What p1 sends to p0 goes to nobody; what it receives still comes."""
        ip("-n", "p1", "neigh", "replace", ADDRESSES[0], "lladdr", NOBODY, "dev", "eth0", "nud", "permanent")

    @staticmethod
    def mend_half():
        ip("-n", "p1", "neigh", "del", ADDRESSES[0], "dev", "eth0")
