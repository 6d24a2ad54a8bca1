// The size of the first page, and the latency and frame rate of the nuggets board. Times are printed; their bounds are
// wide, since the machine may be busy.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Person } from './support/browser.js';
import { browser, hub } from './support/site.js';

/** Bytes on the network. */
const FIRST_PAGE = 120_000;

const bound = { timeout: 120_000 };

/**
 * @param {number[]} samples
 * @param {number} part
 */
const quantile = (samples, part) => [...samples].sort((a, b) => a - b)[Math.min(samples.length - 1, Math.floor(samples.length * part))];
/** @param {number[]} samples */
const summary = (samples) => [0.5, 0.9, 0.99].map((part) => `p${part * 100} ${quantile(samples, part).toFixed(1)}`).join(', ');

test('the first page is small and makes no further requests', bound, async (t) => {
  const ann = await Person.come(browser, hub.address, 'Ann');
  const network = await ann.page.context().newCDPSession(ann.page);
  await network.send('Network.enable');
  let bytes = 0;
  network.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await ann.go('/');
  await ann.page.locator('#link[data-state=open]').waitFor();
  const asked = ann.requests.length;
  t.diagnostic(`the first page: ${bytes} bytes in ${asked} requests`);
  assert.ok(bytes > 0 && bytes < FIRST_PAGE, `${bytes} bytes`);
  // Changes of the lobby arrive by the socket alone.
  const room = await hub.open({ game: 'nuggets', map: 'gold' });
  await ann.page.locator(`[data-room=${room.id}]`).waitFor({ state: 'attached' });
  assert.deepEqual(ann.requests.slice(asked).filter((url) => url.startsWith('http')), []);
  await ann.leave();
});

test('the display face loads with the first page without moving it, and the text face with a room', bound, async (t) => {
  const { id } = await hub.open({ game: 'nuggets', map: 'main' });
  const ann = await Person.come(browser, hub.address, 'Ann');
  await ann.page.addInitScript(() => {
    const shifts = Object.assign(globalThis, { moved: 0 });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.moved += /** @type {any} */ (entry).value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  const faces = async () => {
    const loaded = await ann.page.evaluate(async () => [...(await document.fonts.ready)].filter(({ status }) => status === 'loaded').map(({ family }) => family));
    t.diagnostic(`layout shift: ${await ann.page.evaluate(() => /** @type {any} */ (globalThis).moved)}`);
    return loaded.map((family) => family.replaceAll(/"|'/gu, ''));
  };
  await ann.go('/');
  await ann.page.locator('#link[data-state=open]').waitFor();
  assert.deepEqual(await faces(), ['Fredoka Variable']);
  assert.ok((await ann.page.evaluate(() => /** @type {any} */ (globalThis).moved)) < 0.02);
  await ann.go(`/rooms/${id}`);
  await ann.hasSeat('A');
  assert.deepEqual((await faces()).sort(), ['Fredoka Variable', 'Inter Variable']);
  await ann.leave();
});

test('nuggets responds to keys immediately', bound, async (t) => {
  const room = await hub.open({ game: 'nuggets', map: 'main' });
  const ann = await Person.come(browser, hub.address, 'Ann');
  await ann.page.addInitScript(() => {
    /** @type {number[]} */
    const samples = [];
    let pressed = 0;
    let told = false;
    addEventListener('keydown', () => ([pressed, told] = [performance.now(), false]), true);
    const listen = WebSocket.prototype.addEventListener;
    WebSocket.prototype.addEventListener = function (/** @type {any[]} */ ...all) {
      const [type, listener] = all;
      if (type !== 'message') return listen.apply(this, /** @type {any} */ (all));
      return listen.call(this, type, (/** @type {any} */ event) => {
        // The listener may draw immediately.
        told ||= typeof event.data === 'string' && event.data.startsWith('DISPLAY');
        listener(event);
      });
    };
    const paint = CanvasRenderingContext2D.prototype.drawImage;
    CanvasRenderingContext2D.prototype.drawImage = function (/** @type {any[]} */ ...all) {
      paint.apply(this, /** @type {any} */ (all));
      if (!told || pressed === 0) return;
      samples.push(performance.now() - pressed);
      pressed = 0;
      sampled();
    };
    let sampled = () => {};
    // Resolves with the next sample, or after a timeout if the key has no effect. Polling would make the browser draw useless frames.
    const sample = (/** @type {number} */ had) =>
      new Promise((resolve) => {
        const done = () => resolve(samples.length);
        sampled = done;
        if (samples.length > had) done();
        else setTimeout(done, 300);
      });
    Object.assign(globalThis, { samples, sample });
  });
  await ann.go(`/rooms/${room.id}`);
  await ann.hasSeat('A');
  let had = 0;
  for (let press = 0; press < 120; press += 1) {
    // Back and forth: one of the two directions is free.
    await ann.page.keyboard.press('hljk'[press % 4]);
    had = await ann.page.evaluate((had) => /** @type {any} */ (globalThis).sample(had), had);
  }
  /** @type {number[]} */
  const measured = await ann.page.evaluate(() => /** @type {any} */ (globalThis).samples);
  t.diagnostic(`from a key to the picture, in ms, of ${measured.length}: ${summary(measured)}`);
  assert.ok(measured.length > 20 && quantile(measured, 0.5) < 1000);
  await ann.leave();
});

test('draws a map of 160 x 400 smoothly', bound, async (t) => {
  const ann = await Person.come(browser, hub.address, 'Ann');
  await ann.go('/nowhere');
  await ann.page.locator('#who:not(:empty)').waitFor();
  // The first view is a baseline: a canvas of one colour.
  for (const view of ['one colour', 'following', 'the whole map']) {
    const { draws, frames } = await ann.page.evaluate(async (view) => {
      const whole = view === 'the whole map';
      // @ts-expect-error A module of the page.
      const { Ground, draw, layout } = await import('/js/games/nuggets/board.js');
      // @ts-expect-error A module of the page.
      const { fold, initialState } = await import('/js/games/nuggets/fold.js');
      const state = initialState();
      const [rows, columns] = [160, 400];
      fold(state, { kind: 'grid', rows, columns });
      const map = Array.from({ length: rows }, (_, row) =>
        Array.from({ length: columns }, (_, column) => (row % 16 === 0 ? '-' : column % 20 === 0 ? '|' : row % 8 === 5 ? '#' : '.')).join(''),
      );
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [1200, 600];
      document.body.append(canvas);
      const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
      const ground = new Ground();
      /** @type {number[]} */
      const draws = [];
      /** @type {number[]} */
      const frames = [];
      let last = 0;
      for (let frame = 0; frame < 180; frame += 1) {
        const now = await new Promise((resolve) => requestAnimationFrame(resolve));
        if (last > 0) frames.push(now - last);
        last = now;
        const start = performance.now();
        if (view === 'one colour') {
          context.fillStyle = `rgb(${frame} 0 0)`;
          context.fillRect(0, 0, 1200, 600);
          continue;
        }
        // A player moves in every frame.
        const [row, column] = [80, 40 + frame];
        const display = [...map];
        display[row] = `${map[row].slice(0, column)}@${map[row].slice(column + 1)}`;
        fold(state, { kind: 'display', rows: display });
        const place = layout(state, 1200, 600, { whole, zoom: 1, focus: state.place, ratio: 1 });
        draw(context, state, place, { ground, glides: new Map(), now });
        draws.push(performance.now() - start);
      }
      canvas.remove();
      return { draws, frames };
    }, view);
    // Excludes the first frame, which paints all cells.
    const later = frames.slice(1);
    const rate = 1000 / (later.reduce((sum, one) => sum + one, 0) / later.length);
    const drawn = draws.length > 0 ? `; a display folded and drawn, in ms: ${summary(draws)}, at first ${draws[0].toFixed(1)}` : '';
    t.diagnostic(`${view}: ${rate.toFixed(1)} frames/s${drawn}`);
    assert.ok(draws.length === 0 || quantile(draws, 0.5) < 200);
  }
  await ann.page.context().close();
});
