// Native clients: what a program of one's own would send over UDP or TCP.

import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { setInterval } from 'node:timers';

import { begin, fold } from '../../../js/games/nuggets/fold.js';
import { decode } from '../../../js/games/nuggets/protocol.js';
import { join, move } from '../../../js/games/robots/protocol.js';
import { Explorer } from './explorer.js';

/** Retry interval of a client that receives nothing, in milliseconds. */
const AGAIN = 500;

/**
 * Plays nuggets over UDP until the game is over.
 * @param {number} port
 * @param {string} name
 * @param {number} pause Milliseconds from a display to the next key.
 * @returns {{ over: Promise<string>, stop: () => void }} What the server has said at the end.
 */
export function nuggets(port, name, pause = 0) {
  const socket = createSocket('udp4');
  const state = begin();
  const explorer = new Explorer();
  const say = (/** @type {string} */ text) => socket.send(text, port, '127.0.0.1');
  const act = () => {
    if (state.letter === null) return say(`PLAY ${name}`);
    const key = state.place && explorer.next(state);
    return key ? say(`KEY ${key}`) : undefined;
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waits;
  const later = () => {
    clearTimeout(waits);
    waits = setTimeout(act, pause);
  };
  // A test that fails does not stop the client; neither may keep Node running.
  const again = setInterval(act, AGAIN).unref();
  socket.unref();
  const stop = () => {
    clearInterval(again);
    clearTimeout(waits);
    socket.close();
  };
  /** @type {Promise<string>} */
  const over = new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (bytes) => {
      const message = decode(bytes.toString('latin1'));
      if (!message) return;
      fold(state, message);
      if (message.kind === 'display') pause > 0 ? later() : act();
      if (message.kind === 'quit') {
        stop();
        resolve(message.text);
      }
    });
  });
  act();
  return { over, stop };
}

/**
 * Plays robots over TCP: it joins, and moves left or right on every chunk that it receives.
 * @param {number} port
 * @param {string} name
 * @returns {{ stop: () => void }}
 */
export function robots(port, name) {
  const socket = connect(port, '127.0.0.1', () => socket.write(join(name)));
  let step = 0;
  socket.on('data', () => {
    step += 1;
    socket.write(move(step % 2 ? 'left' : 'right'));
  });
  socket.on('error', () => {});
  return { stop: () => socket.destroy() };
}

/**
 * Plays blackjack over TCP and always stands.
 * @param {number} port
 * @param {string} name
 * @returns {{ over: Promise<string[]>, stop: () => void }} What the dealer has said.
 */
export function blackjack(port, name) {
  const socket = connect(port, '127.0.0.1', () => socket.write(`JOIN ${name}\0`));
  /** @type {string[]} */
  const said = [];
  let rest = '';
  /** @type {Promise<string[]>} */
  const over = new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => resolve(said));
    socket.on('data', (data) => {
      const messages = (rest + data.toString('latin1')).split('\0');
      rest = messages.pop() ?? '';
      for (const message of messages) {
        said.push(message);
        if (message === 'DECISION') socket.write('STAND\0');
      }
    });
  });
  return { over, stop: () => socket.destroy() };
}
