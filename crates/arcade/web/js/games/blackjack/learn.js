// "Watch it learn": the chart of hit and stand while it fills in, its value compared with the optimum, and the
// controls.

import { svgElement } from '../../lib/curve.js';
import { announceLink, announceLive, element, sheet, title, updateChildren } from '../../lib/dom.js';
import { Link, socketAddress } from '../../lib/link.js';
import { remember } from '../../lib/settings.js';
import { errorOf, number, say } from '../../lib/text.js';
import { cellInWords, scale, signed, states, upcardName } from './learner.js';

await sheet('board.css', import.meta.url);
await sheet('learn.css', import.meta.url);

/** @typedef {import('./learner.js').Report} Report */
/** @typedef {import('./learner.js').Space} Space */

/** In CSS pixels: to the left of the curve and below it, for the numbers, and around the curve. */
const [LEFT, BELOW, EDGE] = [64, 28, 16];
/** Rounds per second; empty is full speed. */
const PACES = /** @type {[string, string][]} */ ([
  ['1', say('learn.pace.1')],
  ...[5, 25, 200, 5000].map((rounds) => [String(rounds), say('learn.pace', { count: rounds })]),
  ['', say('learn.pace.full')],
]);
const EXPLORATIONS = /** @type {[string, string][]} */ ([
  ['confident', say('learn.explore.confident')],
  ['epsilon', say('learn.explore.epsilon')],
  ['random', say('learn.explore.random')],
]);
const CHANCES = /** @type {[string, string][]} */ ([
  ['0.02', '2 %'],
  ['0.1', '10 %'],
  ['0.3', '30 %'],
]);

/**
 * Shows the page until the returned function is called.
 * @param {HTMLElement} main
 */
export function showPage(main) {
  title(say('learn.title'));
  main.dataset.page = 'learn';
  main.dataset.game = 'blackjack';
  /** @type {Report | null} */
  let report = null;
  /** Whether to resume when the page is visible again. */
  let resumes = false;
  const chart = new Chart();
  const facts = element('dl', { class: 'facts' });
  const picture = svgElement('svg', { role: 'img', class: 'worth' });
  const resized = new ResizeObserver(() => report && drawWorth(picture, report));
  resized.observe(picture);
  const live = element('p', { class: 'hidden', 'aria-live': 'polite' });
  const problem = element('p', { class: 'error', role: 'alert' });
  const begin = element('button', { type: 'button', class: 'primary large', click: () => start() }, say('learn.start'));
  const pause = element('button', { type: 'button', disabled: true, click: () => tell({ do: report?.running ? 'pause' : 'resume' }) }, say('learn.pause'));
  const saveButton = element('button', { type: 'button', disabled: true }, say('learn.keep'));
  const pace = select('pace', say('page.speed'), PACES, '5');
  const explore = select('explore', say('learn.explore'), EXPLORATIONS, 'confident');
  const chance = select('chance', say('learn.chance'), CHANCES, '0.1');
  const space = select('space', say('learn.space'), [['soft', say('learn.space.soft')], ['coarse', say('learn.space.coarse')]], 'soft');
  const seed = element('input', { id: 'seed', type: 'number', min: '0', max: '4294967295', step: '1', value: String(Math.floor(Math.random() * 1000)), inputmode: 'numeric' });
  chance.label.hidden = true;
  explore.select.addEventListener('change', () => {
    chance.label.hidden = explore.select.value !== 'epsilon';
  });
  pace.select.addEventListener('change', () => tellPace());
  saveButton.addEventListener('click', () => {
    if (!report) return;
    remember('learned table', JSON.stringify({ space: report.space, cells: report.cells.toLowerCase(), rounds: report.rounds }));
    saveButton.textContent = say('learn.kept');
  });
  main.replaceChildren(
    element('h1', {}, say('learn.title')),
    element('p', { class: 'soft' }, say('learn.text')),
    problem,
    element(
      'div',
      { class: 'learn' },
      element('section', { class: 'panel', 'aria-label': say('learn.controls') }, element('div', { class: 'row' }, begin, pause), element('div', { class: 'fields' }, pace.label, explore.label, chance.label, space.label, element('label', { for: 'seed' }, say('learn.seed'), seed)), facts, element('div', { class: 'row' }, saveButton)),
      element('section', { class: 'panel', 'aria-label': say('learn.worth') }, element('h2', {}, say('learn.worth.heading')), picture),
      element('section', { class: 'panel chart', 'aria-label': say('learn.chart') }, element('h2', {}, say('learn.chart')), element('p', { class: 'note' }, say('learn.chart.note')), chart.element),
    ),
    live,
  );

  const link = new Link(() => socketAddress('/learn/socket'), {
    message: (data) => {
      if (typeof data !== 'string') return;
      const message = JSON.parse(data);
      if (message.error) {
        problem.textContent = errorOf(message);
        return;
      }
      problem.textContent = '';
      const before = report;
      report = /** @type {Report} */ (message);
      show(report, before);
    },
    state: (state) => {
      if (state.kind === 'waiting') announceLink(say('learn.lost'), 'lost');
      else announceLive(state);
    },
  });
  const tell = (/** @type {object} */ wish) => link.send(JSON.stringify(wish));
  const tellPace = () => tell({ do: 'pace', rounds: pace.select.value === '' ? null : Number(pace.select.value) });
  const start = () => {
    saveButton.textContent = say('learn.keep');
    tellPace();
    tell({ do: 'start', explore: explore.select.value, chance: Number(chance.select.value), space: space.select.value, seed: Math.max(0, Math.floor(Number(seed.value) || 0)) });
  };

  /** @param {Report} now @param {Report | null} before */
  const show = (now, before) => {
    begin.textContent = say(now.rounds > 0 ? 'learn.restart' : 'learn.start');
    pause.textContent = say(now.running ? 'learn.pause' : 'learn.resume');
    pause.disabled = now.rounds === 0 && !now.running;
    saveButton.disabled = now.rounds === 0;
    chart.show(now);
    const shown = [
      [say('learn.rounds'), number(now.rounds)],
      [say('page.speed'), now.running ? say('learn.pace', { count: now.speed }) : say('learn.paused')],
      [say('learn.now'), signed(now.value, 4)],
      [say('learn.best'), signed(now.optimum, 4)],
      [say('learn.gain'), number(now.optimum - now.value, 4)],
      [say('learn.differs'), say('learn.hands', { count: now.differs })],
    ];
    updateChildren(facts, ...shown.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))));
    drawWorth(picture, now);
    // Announced at each power of ten of rounds.
    const tens = (/** @type {number} */ rounds) => Math.floor(Math.log10(rounds + 1));
    if (before && tens(now.rounds) > tens(before.rounds)) {
      live.textContent = say('learn.spoken', { rounds: now.rounds, worth: signed(now.value, 3), best: signed(now.optimum, 3), count: now.differs });
    }
  };

  // The learner pauses while the page is hidden.
  const visibilityChanged = () => {
    if (document.hidden) {
      resumes = report?.running ?? false;
      if (resumes) tell({ do: 'pause' });
    } else if (resumes) {
      resumes = false;
      tell({ do: 'resume' });
    }
  };
  document.addEventListener('visibilitychange', visibilityChanged);
  return () => {
    document.removeEventListener('visibilitychange', visibilityChanged);
    resized.disconnect();
    link.close();
    delete main.dataset.game;
  };
}

/**
 * @param {string} id
 * @param {string} text
 * @param {[string, string][]} choices
 * @param {string} chosen
 */
function select(id, text, choices, chosen) {
  const made = element('select', { id }, ...choices.map(([value, name]) => element('option', { value }, name)));
  made.value = chosen;
  return { select: made, label: element('label', { for: id }, text, made) };
}

/** A table for hard hands and one for soft ones. */
class Chart {
  constructor() {
    this.element = element('div', { class: 'charts' });
    /** @type {Space | null} */
    this.space = null;
    /** @type {HTMLTableCellElement[]} */
    this.cells = [];
    this.known = '';
  }

  /** @param {Space} space */
  build(space) {
    this.space = space;
    this.known = '';
    const all = states(space);
    this.cells = all.map(() => element('td', {}));
    const tables = [false, true]
      .map((soft) => {
        const totals = [...new Set(all.filter((state) => state.soft === soft).map(({ total }) => total))].reverse();
        if (totals.length === 0) return null;
        const head = element('tr', {}, element('th', { scope: 'col' }, say('learn.total')), ...Array.from({ length: 10 }, (_, at) => element('th', { scope: 'col' }, upcardName(at + 2))));
        const rows = totals.map((total) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, String(total)),
            ...all.flatMap((state, at) => (state.total === total && state.soft === soft ? [this.cells[at]] : [])),
          ),
        );
        const name = say(space === 'coarse' ? 'learn.all' : soft ? 'learn.soft' : 'learn.hard');
        return element('table', {}, element('caption', {}, name), element('thead', {}, head), element('tbody', {}, ...rows));
      })
      .filter((table) => table !== null);
    this.element.replaceChildren(...tables);
  }

  /** @param {Report} report */
  show({ space, cells, best, means }) {
    if (space !== this.space) this.build(space);
    for (let at = 0; at < this.cells.length; at += 1) {
      const cell = cells[at];
      const made = this.cells[at];
      made.title = cellInWords(cell, best[at], means[at]);
      if (cell === this.known[at]) continue;
      const decided = cell.toLowerCase();
      made.textContent = cell === '.' ? '' : decided.toUpperCase();
      made.dataset.cell = cell;
      made.classList.toggle('differs', cell !== '.' && decided !== best[at]);
      made.setAttribute('aria-label', made.title);
    }
    this.known = cells;
  }
}

/**
 * One unit is one CSS pixel, so that the text has the same size on a phone.
 * @param {SVGElement} picture
 * @param {Report} report
 */
function drawWorth(picture, { curve, optimum, value, rounds }) {
  const { most, low, x, y } = scale(curve, optimum);
  const [width, height] = [Math.max(200, picture.clientWidth), Math.max(150, picture.clientHeight)];
  picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
  const across = (/** @type {number} */ at) => LEFT + (width - LEFT - EDGE) * x(at);
  const up = (/** @type {number} */ worth) => height - BELOW - (height - BELOW - EDGE) * y(worth);
  const marks = [];
  for (let ten = 1; ten <= most; ten *= 10) {
    marks.push(svgElement('line', { x1: across(ten), x2: across(ten), y1: EDGE, y2: height - BELOW, class: 'grid' }));
    const text = ten < 1000 ? String(ten) : ten < 1e6 ? `${ten / 1000}k` : `${ten / 1e6}M`;
    marks.push(svgElement('text', { x: across(ten), y: height - 8, 'text-anchor': 'middle' }, text));
  }
  const worths = [low, (low + optimum) / 2];
  for (const worth of worths) marks.push(svgElement('text', { x: LEFT - 8, y: up(worth) + 5, 'text-anchor': 'end' }, signed(worth, 2)));
  const points = [...curve, /** @type {[number, number]} */ ([rounds, value])].map(([at, worth]) => `${across(at).toFixed(1)},${up(worth).toFixed(1)}`);
  picture.replaceChildren(
    ...marks,
    svgElement('line', { x1: LEFT, x2: width - EDGE, y1: up(optimum), y2: up(optimum), class: 'optimum' }),
    svgElement('text', { x: LEFT - 8, y: up(optimum) + 5, 'text-anchor': 'end', class: 'best' }, signed(optimum, 3)),
    svgElement('polyline', { points: points.join(' '), class: 'value' }),
    svgElement('circle', { cx: across(rounds), cy: up(value), r: 5, class: 'now' }),
    svgElement('text', { x: LEFT - 12, y: height - 8, 'text-anchor': 'end' }, say('learn.axis')),
  );
  picture.setAttribute('aria-label', say('learn.curve', { rounds, worth: signed(value, 4), best: signed(optimum, 4) }));
}
