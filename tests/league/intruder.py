#!/usr/bin/env python3
"""A nuggets or robots player that also joins at the ports of its opponents.

    python3 intruder.py GAME HOST PORT NAME LEAGUE REPORT

It finds the ports in the latest journals of the folder LEAGUE. For each port it appends to REPORT a line `tried PORT`, a line
`listed PORT` if the table of sockets in /proc/net lists it, and a line `joined PORT` if it received a reply.
"""

import glob
import os
import re
import select
import socket
import sys
import time

TABLES = {"nuggets": "udp", "robots": "tcp"}
AT_ONCE = 2  # matches
PAUSE = 0.1  # seconds
PATIENCE = 5  # seconds
MOST = 100  # open sockets


def seats(league):
    """Returns the ports of the two seats, from the heads of the latest journals."""
    journals = sorted(glob.glob(os.path.join(league, "journals", "*", "*")), key=os.path.getmtime)
    ports = set()
    for path in journals[-AT_ONCE:]:
        with open(path, "rb") as journal:
            head = journal.read(4096)
        # 127.0.0.1 and a port of two bytes.
        found = re.findall(rb"\x7f\0\0\x01\xfb(..)", head, re.DOTALL)[:2]
        ports.update(int.from_bytes(port, "little") for port in found)
    return ports


def listed(game, own):
    """Returns the local ports of the sockets that the system shows to this program, except its `own`."""
    with open(f"/proc/net/{TABLES[game]}") as table:
        ports = {int(row.split()[1].rsplit(":", 1)[1], 16) for row in table.readlines()[1:]}
    # In a separate network, one of them may have the number of an opponent's port.
    return ports - {mine.getsockname()[1] for mine in own if mine}


def join(game, host, port, name, patience):
    """Joins and returns the socket, or None if that fails, and whether a reply arrives within `patience` seconds."""
    server = None
    try:
        if game == "nuggets":
            server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            server.connect((host, port))
            server.send(b"PLAY " + name.encode())
        else:
            server = socket.create_connection((host, port))
            server.sendall(b"\x00" + bytes([len(name)]) + name.encode())
        readable, _, _ = select.select([server], [], [], patience)
        return server, bool(readable and server.recv(65536, socket.MSG_PEEK))
    except OSError:
        return server, False


def main(game, host, port, name, league, report):
    port = int(port)
    own = None
    intruders = []
    begin_by = time.monotonic() + PATIENCE
    while True:
        # Tries the ports before it takes its own seat and again during the match.
        table = listed(game, intruders)
        ports = seats(league)
        for other in ports - {port}:
            intruder, has_joined = join(game, host, other, "intruder", PAUSE)
            # The league finds its owner only while it is open.
            intruders = [*intruders[-MOST:], intruder]
            with open(report, "a") as file:
                file.write(f"tried {other}\n" + f"listed {other}\n" * (other in table) + f"joined {other}\n" * has_joined)
        # On a busy machine the journal of its own match, with the port of its opponent, appears late.
        if not own and (port in ports or time.monotonic() >= begin_by):
            own, _ = join(game, host, port, name, None)
        if not own:
            time.sleep(PAUSE)
        until = time.monotonic() + PAUSE
        while own and time.monotonic() < until:
            own.send(b"KEY h" if game == "nuggets" else b"\x01")
            readable, _, _ = select.select([own], [], [], 0.02)
            if readable and not own.recv(65536):
                return


if __name__ == "__main__":
    main(*sys.argv[1:])
