// Native clients over UDP and TCP.

import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setInterval } from 'node:timers';

import { initialState, fold } from '../../../js/games/nuggets/fold.js';
import { decode } from '../../../js/games/nuggets/protocol.js';
import { join, move } from '../../../js/games/robots/protocol.js';
import { Explorer } from './explorer.js';

/** Retry interval without a response, in milliseconds. */
const AGAIN = 500;
/** 15 s without a response. */
const TRIES = 30;
/** Displays after a retry that are awaited together, and the silence in milliseconds that ends them. */
const CAREFUL = 50;
const SILENCE = 5;

/**
 * Datagrams that the system has dropped because the buffer of the port was full.
 * @param {number} port
 */
function dropped(port) {
  const place = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = readFileSync('/proc/net/udp', 'utf8').split('\n').map((line) => line.trim().split(/\s+/));
  return Number(sockets.find(([, local]) => local?.endsWith(place))?.at(-1) ?? 0);
}

/**
 * Plays nuggets over UDP until the game is over.
 * @param {number} port
 * @param {string} name
 * @param {{ pause?: number, again?: number }} [times] Milliseconds from a display to the next key, and from one attempt to the next.
 * @returns {{ over: Promise<string | null>, stop: () => void }} The text of the QUIT; null if it was lost because the system has
 *   dropped datagrams.
 */
export function nuggets(port, name, { pause = 0, again = AGAIN } = {}) {
  const socket = createSocket('udp4');
  const state = initialState();
  const explorer = new Explorer();
  let tries = 0;
  const say = (/** @type {string} */ text) => socket.send(text, port, '127.0.0.1');
  const act = () => {
    if (state.letter === null) return say(`PLAY ${name}`);
    const key = state.place && explorer.next(state);
    return key ? say(`KEY ${key}`) : undefined;
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waits;
  /** @param {number} after In milliseconds. */
  const later = (after) => {
    clearTimeout(waits);
    waits = setTimeout(act, after);
  };
  // A retry may put a second key on the way. Each key would then be chosen before the effect of the previous one is known,
  // and the player could circle around gold forever.
  let careful = 0;
  /** @type {() => void} */
  let stop = () => {};
  /** @type {Promise<string | null>} */
  const over = new Promise((resolve, reject) => {
    // A failed test does not stop the client, so its timer and its socket must not keep Node running.
    const retry = setInterval(() => {
      tries += 1;
      if (tries <= TRIES) {
        careful = CAREFUL;
        act();
        // A client with a seat receives an ERROR for this key, and one without a seat no response.
        if (state.letter !== null) say('KEY ?');
        return;
      }
      const lost = dropped(socket.address().port);
      stop();
      if (state.letter !== null && lost > 0) resolve(null);
      else reject(new Error(`${name} has lost the server without a QUIT, and no datagram: it was ${state.letter ?? 'not let in'}`));
    }, again).unref();
    stop = () => {
      clearInterval(retry);
      clearTimeout(waits);
      socket.close();
    };
    socket.on('error', reject);
    socket.on('message', (bytes) => {
      tries = 0;
      const message = decode(bytes.toString('latin1'));
      if (!message) return;
      fold(state, message);
      if (message.kind === 'display') {
        careful = Math.max(0, careful - 1);
        const after = Math.max(pause, careful > 0 ? SILENCE : 0);
        after > 0 ? later(after) : act();
      }
      if (message.kind === 'quit') {
        stop();
        resolve(message.text);
      }
    });
  });
  socket.unref();
  act();
  return { over, stop };
}

/**
 * Joins, and moves left or right on every chunk that it receives.
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
 * Always stands.
 * @param {number} port
 * @param {string} name
 * @returns {{ over: Promise<string[]>, stop: () => void }} The messages of the dealer.
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
