// The hub and the browser of a test file, which Node runs in a separate process.

import { after, before } from 'node:test';

import { launch } from './browser.js';
import { Hub } from './hub.js';

/** @type {Hub} */
export let hub;
/** @type {import('playwright-core').Browser} */
export let browser;

before(async () => {
  hub = await Hub.start();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await hub?.stop();
});
