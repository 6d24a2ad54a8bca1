// Users of Chromium or Firefox. An error in a page's log, or a request to another site, fails the test.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';

import { chromium } from 'playwright-core';
// The Firefox of the distribution: later versions of playwright do not support its long-term release.
import { firefox } from 'playwright-over-bidi';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Timeout of expected events in milliseconds. */
export const PATIENCE = 30_000;

/** The shell has no windows and needs about half the processor time. */
const SHELL = '/usr/lib/chromium/chromium-headless-shell';
const CHROMIUM = process.env.CHROMIUM ?? (existsSync(SHELL) ? SHELL : '/usr/bin/chromium');

export const launch = () => chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: PATIENCE });

const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr';

/** Null if Firefox is not installed. */
export const launchFirefox = async () =>
  existsSync(FIREFOX)
    ? /** @type {import('playwright-core').Browser} */ (
        /** @type {unknown} */ (await firefox.launch({ channel: 'moz-firefox', executablePath: FIREFOX, timeout: PATIENCE }))
      )
    : null;

/** @typedef {import('playwright-core').Page} Page */

/** A browser profile with one page. */
export class Person {
  /**
   * @param {Page} page
   * @param {string} site
   * @param {string} name
   */
  constructor(page, site, name) {
    this.page = page;
    this.site = site;
    this.name = name;
    /** @type {string[]} */
    this.faults = [];
    /** Addresses of all requests. @type {string[]} */
    this.requests = [];
  }

  /**
   * @param {import('playwright-core').Browser} browser
   * @param {string} site
   * @param {string} name The name in games; empty for a guest.
   * @param {import('playwright-core').BrowserContextOptions} [options] By default the locale is English.
   */
  static async come(browser, site, name, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US', ...options });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    const person = new Person(page, site, name);
    if (name) {
      await page.addInitScript((value) => {
        // Firefox starts with a blank page, which has no storage.
        if (!location.protocol.startsWith('http') || localStorage.getItem('name') !== null) return;
        localStorage.setItem('name', value);
        // Marks the name as registered, which it is not.
        localStorage.setItem('proven', value);
        localStorage.setItem('key', 'A'.repeat(43));
      }, name);
    }
    page.on('request', (request) => person.requests.push(request.url()));
    page.on('console', (message) => {
      if (message.type() === 'error') person.faults.push(`${message.text()} (${message.location().url})`);
    });
    page.on('pageerror', (error) => {
      // Firefox reports a socket that is open when its page is left or closed.
      if (!/^(Error: )?The connection to ws.* was interrupted while the page was loading/.test(String(error))) person.faults.push(String(error));
    });
    await context.route(
      (url) => url.origin !== site,
      (route) => {
        person.faults.push(`a foreign request: ${route.request().url()}`);
        return route.abort();
      },
    );
    return person;
  }

  /**
   * The test has opened the room.
   * @param {{ id: string, owner_token?: string }} room
   */
  async owns({ id, owner_token: token = '' }) {
    await this.page.addInitScript(
      ([key, value]) => {
        if (location.protocol.startsWith('http')) localStorage.setItem(key, `${Date.now() + 3_600_000} ${value}`);
      },
      [`owner ${id}`, token],
    );
  }

  /** @param {string} path */
  async go(path) {
    await this.page.goto(this.site + path);
    // The page loads before its modules have run; the button gets its name once everything listens.
    await this.page.locator('#who:not(:empty)').waitFor({ state: 'attached' });
  }

  /** @param {string} name */
  async takesName(name) {
    await this.page.getByRole('button', { name: 'Change name' }).click();
    await this.page.getByLabel('Your name').fill(name);
    await this.page.keyboard.press('Enter');
    await this.page.getByRole('button', { name: `You play as ${name}` }).waitFor();
  }

  get status() {
    return this.page.locator('main [role=status]').first();
  }

  /** @param {string | RegExp} text */
  async reads(text) {
    await this.status.filter({ hasText: text }).waitFor();
  }

  /**
   * In a match of nuggets.
   * @param {string} letter
   */
  async hasSeat(letter) {
    await this.reads('left');
    await this.page.locator('.players li.own .mark').filter({ hasText: letter }).waitFor();
  }

  /** Plays Stand at a table of blackjack, and continues after the verdict. */
  async stands() {
    await this.page.getByRole('button', { name: 'Stand' }).click();
    await this.page.getByRole('button', { name: 'Next round' }).click();
  }

  /** In a game of mastermind. */
  async givesUp() {
    await this.page.getByRole('button', { name: 'Give up' }).click();
    await this.page.getByRole('dialog').getByRole('button', { name: 'Give up' }).click();
  }

  /** Fails if the page has logged an error. */
  async leave() {
    await this.page.context().close();
    assert.deepEqual(this.faults, [], `${this.name}'s page`);
  }
}
