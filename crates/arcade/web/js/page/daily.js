// The daily challenge of a game: the player's attempt, the scores of all players, and the result to share.

import { GAMES, isGame } from '../games/index.js';
import { errorText, load, request } from '../lib/api.js';
import { bars, betterThan, challengeStreak, distribution, noteChallenge } from '../lib/daily.js';
import { copyButton, element, sheet, title, updateChildren } from '../lib/dom.js';
import { publicAddress } from '../lib/public.js';
import { resultPicture, sharePicture } from '../lib/result-picture.js';
import { navigate } from '../lib/route.js';
import { rulePictures } from '../lib/rules.js';
import { roomStorage } from '../lib/settings.js';
import { date as written, number, say, translate } from '../lib/text.js';
import { askName } from './name-dialog.js';
import { key } from './name-key.js';
import { showNotFound } from './not-found.js';

await sheet('daily.css', import.meta.url);

/** The pause before the result of a match that may have ended is requested again, in milliseconds. */
const PAUSE = 2000;

/**
 * As the hub sends it.
 * @typedef {{ game: string, date: string, title: string, scores: [number, number][], own: { score: number | null, match: string | null, room: string | null } | null }} Challenge
 */

/**
 * Shows the challenge until the returned function is called.
 * @param {HTMLElement} main
 * @param {string | null} name Of the game.
 */
export function showDaily(main, name) {
  const game = name !== null && isGame(name) ? GAMES[name] : null;
  const { challenge: about } = game ?? {};
  if (!game || !about) return showNotFound(main);
  const heading = say('challenge.title', { game: game.title });
  title(heading);
  main.dataset.page = 'daily';
  main.dataset.game = game.name;
  const own = element('div', { class: 'own-result', 'aria-live': 'polite' });
  const chart = element('div', { class: 'chart' });
  const problem = element('p', { class: 'error', role: 'alert' });
  const start = element('button', { type: 'button', class: 'primary large' }, say('page.play'));
  const actions = element('div', { class: 'row' });
  const day = element('p', { class: 'soft' });
  const pictures = element('div');
  main.replaceChildren(
    element('h1', {}, heading),
    problem,
    element('div', { class: 'cards' }, element('section', { class: 'panel attempt', 'aria-labelledby': 'today' }, element('h2', { id: 'today' }, say('lobby.today')), day, own, chart, actions), element('section', { class: 'panel', 'aria-labelledby': 'rules' }, element('h2', { id: 'rules' }, say('puzzles.rules')), pictures)),
  );
  let left = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const failed = (/** @type {unknown} */ error) => {
    if (!left) problem.textContent = errorText(error);
  };
  start.addEventListener('click', async () => {
    problem.textContent = '';
    if (!(await askName())) return;
    start.disabled = true;
    try {
      const { id } = await request(`/api/daily/${game.name}`, { key: key() });
      roomStorage.remember(`challenge ${id}`, game.name);
      if (!left) navigate(`/rooms/${id}`);
    } catch (error) {
      start.disabled = false;
      failed(error);
      await refresh();
    }
  });
  /** @param {Challenge} challenge */
  const show = ({ date, title: board, scores, own: attempt }) => {
    const score = attempt?.score ?? null;
    if (score !== null) noteChallenge(game.name, date, score);
    const streak = challengeStreak(game.name);
    day.textContent = [written(new Date(date), { day: 'numeric', month: 'long', timeZone: 'UTC' }), translate(board), ...(streak > 0 ? [say('lobby.daily.streak', { count: streak })] : [])].join(' · ');
    const isPending = attempt !== null && score === null;
    updateChildren(
      own,
      ...(score === null
        ? [element('p', {}, isPending ? say(attempt.room === null ? 'challenge.pending' : 'challenge.running') : say('challenge.text')), element('p', { class: 'soft' }, about.text)]
        : [element('p', { class: 'score' }, about.score(score)), element('p', {}, placeText(scores, score)), element('p', { class: 'soft' }, about.text)]),
    );
    const all = distribution(scores, score);
    const players = scores.reduce((sum, [, count]) => sum + count, 0);
    const range = (/** @type {number} */ from, /** @type {number} */ to) => (from === to ? number(from) : `${number(from)} – ${number(to)}`);
    const label = say('challenge.bars', { list: all.map(({ from, to, count }) => `${range(from, to)}: ${count}`).join(', ') });
    chart.hidden = players === 0;
    chart.replaceChildren(
      element('h3', {}, say('challenge.players', { count: players })),
      ...bars(all.map(({ count }) => count), label, all.findIndex((bar) => bar.own)),
      ...(all.length > 0 ? [element('div', { class: 'ends soft', 'aria-hidden': 'true' }, element('span', {}, number(all[0].from)), element('span', {}, number(all[all.length - 1].to)))] : []),
    );
    start.textContent = say(attempt === null ? 'page.play' : 'challenge.continue');
    const mayPlay = attempt === null || (isPending && attempt.room !== null);
    const text = score === null ? '' : shareText(heading, date, scores, score, about.score(score), game.name);
    const picture = () =>
      resultPicture({ title: heading, date, score: about.score(score ?? 0), note: score === null ? '' : placeText(scores, score), bars: all, colour: getComputedStyle(main).getPropertyValue('--game') });
    actions.replaceChildren(
      ...(mayPlay ? [start] : []),
      ...(score === null ? [] : [copyButton(() => text, say('challenge.copy')), element('button', { type: 'button', class: 'small', click: () => void picture().then((blob) => sharePicture(blob, `${game.name}-${date}.png`, text), failed) }, say('challenge.picture'))]),
      ...(mayPlay ? [] : [element('span', { class: 'soft' }, say('challenge.next'))]),
    );
    // Bots may still play, and the result is stored a moment after the end.
    clearTimeout(timer);
    if (isPending) timer = setTimeout(() => void refresh(), PAUSE);
  };
  const refresh = async () => {
    try {
      const challenge = await request(`/api/daily/${game.name}`, undefined, key());
      if (!left) show(challenge);
    } catch (error) {
      failed(error);
    }
  };
  void refresh();
  load(game.load).then((loaded) => pictures.replaceChildren(rulePictures(loaded.rules)), failed);
  return () => {
    left = true;
    clearTimeout(timer);
    delete main.dataset.game;
  };
}

/** @param {[number, number][]} scores @param {number} own */
function placeText(scores, own) {
  const percent = betterThan(scores, own);
  return percent === null ? say('challenge.first') : say('challenge.better', { percent });
}

/**
 * @param {string} heading
 * @param {string} date
 * @param {[number, number][]} scores
 * @param {number} own
 * @param {string} score
 * @param {string} game
 */
function shareText(heading, date, scores, own, score, game) {
  const all = distribution(scores, own);
  const most = Math.max(...all.map(({ count }) => count));
  const sparks = all.map(({ count, own: isOwn }) => (isOwn ? '●' : '▁▂▃▄▅▆▇█'[count === 0 ? 0 : Math.max(1, Math.round((7 * count) / most))])).join('');
  return [`${heading} ${date}: ${score}`, placeText(scores, own), sparks, publicAddress(`/daily/${game}`)].join('\n');
}
