// WebKit, the engine of most phones, as Debian builds it. Playwright cannot drive this build, so the commands are those
// of WebDriver: <https://www.w3.org/TR/webdriver2/>.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

import { PATIENCE } from './browser.js';

const DRIVER = '/usr/bin/WebKitWebDriver';
const XVFB = '/usr/bin/Xvfb';
const BROWSER = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';

/** Keys by their names in `KeyboardEvent.key`. */
const KEYS = { ArrowLeft: '\uE012', ArrowUp: '\uE013', Enter: '\uE007' };

export const hasWebKit = [DRIVER, XVFB, BROWSER].every((path) => existsSync(path));

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export class WebKit {
  /**
   * @param {number} port Of the driver.
   * @param {import('node:child_process').ChildProcess[]} processes
   */
  constructor(port, processes) {
    this.driver = `http://127.0.0.1:${port}`;
    this.processes = processes;
    this.session = '';
  }

  static async start() {
    const screen = spawn(XVFB, ['-displayfd', '1', '-screen', '0', '1366x900x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [number] = await new Promise((resolve) => createInterface(screen.stdout).once('line', (line) => resolve([line])));
    const port = await freePort();
    const env = { ...process.env, DISPLAY: `:${number}`, LIBGL_ALWAYS_SOFTWARE: '1' };
    const driver = spawn(DRIVER, [`--port=${port}`], { stdio: 'ignore', env });
    const webkit = new WebKit(port, [driver, screen]);
    for (const end = Date.now() + PATIENCE; ; await delay(50)) {
      if (await fetch(`${webkit.driver}/status`).then(({ ok }) => ok, () => false)) break;
      assert.ok(Date.now() < end, 'the driver answers');
    }
    const options = { binary: BROWSER, args: ['--automation'] };
    const { sessionId } = await webkit.post('/session', { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } } });
    webkit.session = `/session/${sessionId}`;
    return webkit;
  }

  /** @param {string} path @param {object} [body] */
  async post(path, body = {}) {
    const answer = await fetch(this.driver + path, { method: 'POST', body: JSON.stringify(body) });
    const { value } = /** @type {any} */ (await answer.json());
    assert.ok(answer.ok, `${path}: ${JSON.stringify(value)}`);
    return value;
  }

  /** @param {string} url */
  go(url) {
    return this.post(`${this.session}/url`, { url });
  }

  reload() {
    return this.post(`${this.session}/refresh`);
  }

  /**
   * The first result that is not null, of a function without other variables.
   * @param {string} what
   * @param {(argument: string) => string | null | undefined} look
   * @param {string} [argument]
   * @returns {Promise<string>}
   */
  async sees(what, look, argument = '') {
    for (const end = Date.now() + PATIENCE; ; await delay(50)) {
      const found = await this.post(`${this.session}/execute/sync`, { script: `return (${look})(...arguments) ?? null`, args: [argument] });
      if (found !== null) return found;
      assert.ok(Date.now() < end, `no ${what}`);
    }
  }

  /** @param {string} text In the status. */
  reads(text) {
    return this.sees(`status with ${text}`, (part) => {
      const status = document.querySelector('main [role=status]')?.textContent;
      return status?.includes(part) ? status : null;
    }, text);
  }

  /** @param {string} text Of a button. */
  async click(text) {
    await this.sees(`button ${text}`, (name) => {
      const button = [...document.querySelectorAll('button')].find((one) => one.textContent?.startsWith(name) && !one.disabled && one.checkVisibility());
      button?.click();
      return button && name;
    }, text);
  }

  /** @param {string} key */
  async press(key) {
    const value = KEYS[/** @type {keyof typeof KEYS} */ (key)] ?? key;
    const actions = ['keyDown', 'keyUp'].map((type) => ({ type, value }));
    await this.post(`${this.session}/actions`, { actions: [{ type: 'key', id: 'keyboard', actions }] });
  }

  async stop() {
    if (this.session) await fetch(this.driver + this.session, { method: 'DELETE' }).catch(() => {});
    for (const one of this.processes) one.kill();
  }
}
