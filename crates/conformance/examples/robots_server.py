#!/usr/bin/env python3
"""A robots server with the options of the course.

Robots move and place blocks; bombs are left to you (docs/protocols/robots.md).
"""

import argparse
import asyncio
import secrets
import socket
import struct

parser = argparse.ArgumentParser()
for option in "bcdeklnpxy":
    parser.add_argument("-" + option, type=str if option == "n" else int, required=True)
parser.add_argument("-s", type=int, default=secrets.randbits(32))
args = parser.parse_args()
NAME = args.n.encode()
HELLO = b"\0" + bytes([len(NAME)]) + NAME + struct.pack(">B5H", args.c, args.x, args.y, args.l, args.e, args.b)
STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))
# The robot and the last action of each connection, the encoded players, and the messages for new clients.
clients, players, history, games, state = {}, [], [], [], args.s


def items(encoded):
    return struct.pack(">I", len(encoded)) + b"".join(encoded)


def draw_spot():
    global state
    spot = []
    for size in (args.x, args.y):
        state = state * 48271 % 2147483647
        spot.append(state % size)
    return tuple(spot)


def send_all(message):
    history.append(message)
    for writer in clients:
        writer.write(message)


async def play():
    """One game, from turn 0 to the scores."""
    robots = {robot: draw_spot() for robot in range(len(players))}
    spots = [draw_spot() for _ in range(args.k)]
    blocks, loop = set(spots), asyncio.get_running_loop()
    events = [struct.pack(">BBHH", 2, robot, *spot) for robot, spot in robots.items()]
    events += [struct.pack(">BHH", 3, *spot) for spot in dict.fromkeys(spots)]
    began = loop.time()
    for turn in range(args.l + 1):
        acts = {robot: act for robot, act in clients.values() if robot is not None and act}
        for robot in sorted(acts) if turn else []:
            act, (x, y) = acts[robot], robots[robot]
            if act == b"\2" and (x, y) not in blocks:
                blocks.add((x, y))
                events.append(struct.pack(">BHH", 3, x, y))
            elif act[0] == 3:
                x, y = x + STEPS[act[1]][0], y + STEPS[act[1]][1]
                if 0 <= x < args.x and 0 <= y < args.y and (x, y) not in blocks:
                    robots[robot] = (x, y)
                    events.append(struct.pack(">BBHH", 2, robot, x, y))
        for client in clients.values():
            client[1] = None
        send_all(b"\3" + struct.pack(">H", turn) + items(events))
        events.clear()
        if turn < args.l:
            await asyncio.sleep(began + (turn + 1) * args.d / 1000 - loop.time())  # turns do not drift
    send_all(b"\4" + items([bytes([robot]) + bytes(4) for robot in robots]))
    players.clear(), history.clear()
    clients.update((writer, [None, None]) for writer in clients)


async def serve(reader, writer):
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    host, port = writer.get_extra_info("peername")[:2]
    host = host.removeprefix("::ffff:")
    address = (f"[{host}]:{port}" if ":" in host else f"{host}:{port}").encode()
    writer.write(HELLO + b"".join(history))
    clients[writer] = [None, None]
    try:
        while (tag := (await reader.readexactly(1))[0]) < 4:
            if tag == 0:
                size = await reader.readexactly(1)
                name = await reader.readexactly(size[0])
                name.decode()  # an error ends the connection
                if clients[writer][0] is None and len(players) < args.c:
                    clients[writer][0] = len(players)
                    players.append(bytes([len(players)]) + size + name + bytes([len(address)]) + address)
                    send_all(b"\1" + players[-1])
                    if len(players) == args.c:
                        history.clear()
                        send_all(b"\2" + items(players))
                        games.append(asyncio.create_task(play()))
                continue
            act = bytes([tag]) + (await reader.readexactly(1) if tag == 3 else b"")
            if act[-1] > 3:
                break
            if len(players) == args.c:  # the last action counts, and none before the game
                clients[writer][1] = act
    except (OSError, EOFError, UnicodeDecodeError):
        pass  # the client has disconnected or sends invalid bytes
    del clients[writer]
    writer.close()


async def main():
    await (await asyncio.start_server(serve, None, args.p)).serve_forever()


asyncio.run(main())
