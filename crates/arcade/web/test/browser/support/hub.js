// The real program on a free port, with a temporary directory.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { PATIENCE } from './browser.js';

const PROGRAM = process.env.ARCADE_PROGRAM ?? fileURLToPath(new URL('../../../../../../target/debug/arcade', import.meta.url));

/** Killed when the tests exit. @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * @typedef {{ id: string, game: string, title: string, phase: string, port: number, taken: number, match?: string | null, name?: string | null, locked?: boolean,
 *   code?: string, owner_token?: string, players: { name: string, seat: string, bot: boolean }[], result: { rank: number, name: string, score: number }[] | null }} Room
 */

export class Hub {
  /** @param {string[]} options */
  constructor(options) {
    this.options = options;
    this.data = mkdtempSync(join(tmpdir(), 'arcade-browser-'));
    this.port = 0;
    this.log = '';
    /** @type {import('node:child_process').ChildProcess | null} */
    this.child = null;
  }

  /** @param {string[]} options */
  static async start(...options) {
    const hub = new Hub(options);
    await hub.begin();
    return hub;
  }

  get address() {
    return `http://localhost:${this.port}`;
  }

  /** Uses the same port after a restart. */
  async begin() {
    const child = spawn(PROGRAM, ['--port', String(this.port), '--data', this.data, '--rooms-per-host', '100', ...this.options], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    child.stderr.on('data', (data) => {
      this.log += data;
    });
    let output = '';
    const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
    /** @type {Promise<number>} */
    const port = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`the hub ended with ${code}: ${this.log}`)));
      child.stdout.on('data', (data) => {
        output += data;
        const found = /http:\/\/[^\s/]+:(\d+)\//.exec(output);
        if (found) resolve(Number(found[1]));
      });
    });
    this.port = await port.finally(() => clearTimeout(late));
  }

  /** @param {string[]} words */
  command(...words) {
    return execFileSync(PROGRAM, [...words, '--data', this.data], { encoding: 'utf8' });
  }

  /** @param {NodeJS.Signals} signal */
  async end(signal = 'SIGKILL') {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  async stop() {
    await this.end();
    rmSync(this.data, { recursive: true, force: true });
  }

  /** @returns {Promise<Room[]>} */
  async rooms() {
    return (await (await fetch(`${this.address}/api/rooms`)).json()).rooms;
  }

  /**
   * @param {string} id
   * @returns {Promise<Room>}
   */
  async room(id) {
    const room = (await this.rooms()).find((one) => one.id === id);
    if (!room) throw new Error(`there is no room ${id}`);
    return room;
  }

  /**
   * A match of nuggets starts with its first player, unless the options have a countdown.
   * @param {Record<string, string | number | Record<string, string>>} options
   * @returns {Promise<Room>}
   */
  async open(options) {
    const answer = await fetch(`${this.address}/api/rooms`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(options.game === 'nuggets' ? { countdown: 0, ...options } : options),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
    return answer.json();
  }
}
