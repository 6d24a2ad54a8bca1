#!/usr/bin/env python3
"""A mastermind player that requests a hint and resigns.

    python3 hints.py HOST PORT
"""

import socket
import sys

server = socket.create_connection((sys.argv[1], int(sys.argv[2])))
server.sendall(b"PLAY Asker\nHINT\nRESIGN\n")
while server.recv(4096):
    pass
