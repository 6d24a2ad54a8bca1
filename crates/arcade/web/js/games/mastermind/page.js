// A room of mastermind on its page.

import { confirm } from '../../lib/confirm.js';
import { copyButton, count, element, listenToKeys, renew } from '../../lib/dom.js';
import { recall, remember } from '../../lib/settings.js';
import { sound } from '../../lib/sound.js';
import { Draft } from './draft.js';
import { begin, fold, knownCode, ownBoard, price, share } from './fold.js';
import { mostTelling } from './telling.js';
import { COLOURS, HINT, QUIT, RESIGN, TURNS, another, decode, guess as guessMessage, lifeline, play as playMessage } from './protocol.js';
import { NAMES, inWords, lineInWords, peg, rowElements } from './rows.js';

/** @typedef {import('./fold.js').Board} Board */

/** @type {import('../types.js').Help} */
const HELP = [
  ['tap', 'a peg goes to the place that is marked'],
  ['drag', 'a peg goes to any place'],
  ['red', 'so many pegs are in their place'],
  ['white', 'so many more colours are in the code, elsewhere'],
  ['1 to 8', 'a peg at the cursor'],
  ['← →', 'move the cursor'],
  ['↑ ↓', 'next or previous colour'],
  ['⌫', 'takes a peg back'],
  ['Enter', 'guesses'],
  ['h', 'a hint'],
  ['?', 'these keys'],
];

const ENDS = { won: 'found the code', lost: 'did not find it', resigned: 'gave up', late: 'ran out of time' };

/**
 * @param {import('../types.js').Stage} stage
 * @returns {import('../types.js').Play}
 */
export function play({ board, below, controls, more, live, playable, first, name, send, seated, changed }) {
  const state = begin();
  /** The seat whose board is shown instead of one's own. @type {number | null} */
  let watched = null;
  /** @type {import('../types.js').Room | null} */
  let room = null;
  /** What was asked for last, until the next turn: it is repeated in what the server answers. */
  let note = '';
  const draft = new Draft(() => show());

  const rows = element('ol', { class: 'pegrows', 'aria-label': 'Rows' });
  const known = element('div', { class: 'secret' });
  const tabs = element('div', { class: 'row tabs' });
  const tray = element('div', { class: 'tray', role: 'group', 'aria-label': 'Pegs' });
  board.append(element('div', { class: 'pegs' }, tabs, known, rows));
  const line = element('p', { class: 'status', role: 'status' });
  const advice = element('div', { class: 'advice', 'aria-live': 'polite' });
  const end = element('section', { class: 'result', 'aria-label': 'Your game', hidden: true });
  below.append(element('div', { class: 'line' }, line));

  const button = (/** @type {string} */ text, /** @type {() => void} */ click, primary = false) =>
    element('button', { type: 'button', class: primary ? 'primary large' : '', click }, text);
  const guess = button('Guess', () => submit(), true);
  const back = button('Take back', () => draft.back());
  const lifelines = /** @type {const} */ ([1, 2]).map((which) => ({ which, made: button('', () => send(lifeline(which))) }));
  const hint = button('Hint', () => send(HINT));
  const resign = button('Give up', async () => {
    const today = state.room?.mode === 'daily';
    const lost = today ? 'There is one try a day: the puzzle counts as not found.' : 'The code is shown, and the game counts as not found.';
    if (await confirm('Give up?', lost, 'Give up')) send(RESIGN);
  });
  if (playable) {
    // Always within reach of the thumb.
    controls.append(tray, guess, back);
    more.append(...lifelines.map(({ made }) => made), hint, resign, advice);
    below.prepend(end);
  }

  const submit = () => {
    const code = draft.code();
    if (state.turn && code) send(guessMessage(code));
    else if (state.turn) say(`A guess has ${draft.length} pegs.`);
  };
  const say = (/** @type {string} */ text) => {
    note = text;
    show();
  };

  const stopKeys = listenToKeys((event) => {
    if (!playable || !state.turn) return false;
    const { key } = event;
    // Keys are for one's own game, whichever is looked at.
    if (/^([1-8h]|Backspace|Arrow\w+)$/.test(key)) watched = null;
    if (/^[1-8]$/.test(key)) draft.set(key);
    else if (key === 'Backspace') draft.back();
    else if (key === 'ArrowLeft') draft.move(-1);
    else if (key === 'ArrowRight') draft.move(1);
    else if (key === 'ArrowUp') draft.turn(1);
    else if (key === 'ArrowDown') draft.turn(-1);
    else if (key === 'Enter') submit();
    else if (key === 'h') send(HINT);
    else return false;
    return true;
  });

  for (let digit = 1; digit <= COLOURS; digit += 1) {
    const made = element('button', { type: 'button', class: 'pick', 'aria-label': `${digit}, ${NAMES[digit - 1]}` }, peg(String(digit)));
    draft.pick(made, String(digit));
    tray.append(made);
  }

  /** The game that is shown, and whether it is one's own. */
  const looked = () => {
    const own = ownBoard(state);
    if (own && (watched === null || watched === state.seat)) return { seat: state.seat, shown: own, own: true };
    const seat = watched !== null && state.places.get(watched)?.board ? watched : [...state.places].find(([, place]) => place.board)?.[0] ?? null;
    return { seat, shown: seat === null ? null : (state.places.get(seat)?.board ?? null), own: false };
  };

  const show = () => {
    const { seat, shown, own } = looked();
    const playing = own && playable && state.turn !== null;
    showTabs(seat);
    // Another player's board leaves the draft alone.
    if (own && shown) draft.resize(shown.rules.length, shown.number);
    tray.hidden = !playing;
    if (shown) {
      const code = shown.over?.code.startsWith('*') === false ? shown.over.code : knownCode(shown);
      const label = shown.over?.code.startsWith('*') === false ? `The code is ${inWords(code)}` : code.includes('*') && /\d/.test(code) ? `The code is like ${code}` : 'The code is hidden';
      known.replaceChildren(element('span', { class: 'soft' }, 'Code'), element('span', { class: 'holes', role: 'img', 'aria-label': label }, ...[...code].map(peg)));
      renew(rows, ...rowElements(shown, playing ? draft.element() : null, first && own));
    } else {
      known.replaceChildren();
      rows.replaceChildren();
    }
    line.textContent = note || status();
    showAdvice();
    showEnd();
    guess.disabled = !playing || draft.code() === null;
    back.disabled = !playing || draft.isEmpty();
    hint.disabled = !playing || state.room?.mode === 'race' || draft.length > 6;
    hint.hidden = state.room?.mode === 'race';
    resign.disabled = !playing;
    for (const { which, made } of lifelines) {
      const granted = state.turn?.lifelines[which - 1];
      const cost = count(price(which), 'row');
      const what = which === 1 ? 'A digit' : 'A digit and its place';
      made.textContent = `${what}: ${granted === 'used' ? 'used up' : granted === 'blocked' ? 'too late' : cost}`;
      made.disabled = !playing || granted !== 'available';
    }
    for (const one of [guess, back, hint, resign, ...lifelines.map(({ made }) => made)]) one.classList.toggle('gone', !playing);
  };

  const showTabs = (/** @type {number | null} */ shown) => {
    const seats = [...state.places].filter(([, place]) => place.board);
    tabs.hidden = seats.length < 2;
    renew(
      tabs,
      ...seats.map(([seat, place]) =>
        element(
          'button',
          {
            type: 'button',
            'data-key': String(seat),
            'aria-pressed': String(seat === shown),
            click: () => {
              watched = seat;
              show();
            },
          },
          `${seat === state.seat ? 'You' : place.name}: ${progress(place.board)}`,
        ),
      ),
    );
  };

  const progress = (/** @type {Board | null} */ game) => {
    if (!game) return 'waits';
    if (game.over) return game.over.how === 'won' ? `found in ${game.over.turns}` : ENDS[game.over.how];
    const last = game.lines[game.lines.length - 1];
    return last ? `row ${last.turn}` : 'begins';
  };

  const status = () => {
    if (state.farewell) return `${state.farewell[0].toUpperCase()}${state.farewell.slice(1)}.`;
    if (state.refused) return `${state.refused[0].toUpperCase()}${state.refused.slice(1)}.`;
    if (state.turn) return `Row ${state.turn.turn} of ${TURNS}: find the ${count(draft.length, 'peg')}.`;
    if (state.missing !== null && state.missing > 0) return `The race begins when ${count(state.missing, 'more player')} ${state.missing === 1 ? 'is' : 'are'} ready.`;
    if (state.places.size === 0) return playable ? 'Taking a seat.' : 'Nobody plays yet.';
    const { shown, seat } = looked();
    const who = seat === null ? '' : seat === state.seat ? 'You' : (state.places.get(seat)?.name ?? '');
    if (shown?.over) return `${who} ${ENDS[shown.over.how]}${shown.over.how === 'won' ? ` in ${count(shown.over.turns, 'turn')}` : ''}.`;
    return shown ? `${who} ${who === 'You' ? 'play' : 'plays'}.` : '';
  };

  const showAdvice = () => {
    const told = state.advice;
    if (!told) return advice.replaceChildren();
    const { guess: code, remaining, bits, expected, worst, mayWin } = told;
    const use = element('button', { type: 'button', 'data-key': code, click: () => draft.fill(code) }, 'Use it');
    const why = remaining === 1 ? 'It is the only code that fits.' : `Its answer tells ${bits} bits; ${expected} codes remain on average, ${worst} at worst. ${mayWin ? 'It may be the code.' : 'It cannot be the code, but tells most.'}`;
    return renew(
      advice,
      element(
        'div',
        { class: 'panel' },
        element('p', {}, `${count(remaining, 'code')} ${remaining === 1 ? 'is' : 'are'} possible. The codebreaker would guess `, element('span', { class: 'holes', role: 'img', 'aria-label': inWords(code) }, ...[...code].map(peg)), '. ', why),
        element('div', { class: 'row' }, use, ...(state.possible.length > 1 ? [element('span', { class: 'note' }, `Possible: ${state.possible.join(', ')}`)] : [])),
      ),
    );
  };

  const showEnd = () => {
    const own = ownBoard(state);
    end.hidden = !own?.over || !playable;
    if (!own?.over || !playable) return end.replaceChildren();
    const { how, turns, code } = own.over;
    const date = state.room?.mode === 'daily' ? state.room.date : null;
    const text = share(own, date, playedBefore(own)) ?? '';
    const racing = state.room?.mode === 'race';
    const head = how === 'won' ? (turns === 1 ? 'Found at once' : `Found in ${turns} turns`) : how === 'lost' ? 'Not found' : how === 'late' ? 'The time is up' : 'Given up';
    const length = element('select', { 'aria-label': 'Pegs of the next code' }, ...[4, 5, 6, 7, 8].map((pegs) => element('option', { value: String(pegs), selected: pegs === own.rules.length }, `${pegs} pegs`)));
    const repeats = element('select', { 'aria-label': 'Whether colours repeat in the next code' }, element('option', { value: 'yes', selected: own.rules.repeats }, 'with repeats'), element('option', { value: 'no', selected: !own.rules.repeats }, 'no repeats'));
    const next = racing
      ? [element('button', { type: 'button', class: 'primary', disabled: ready, click: raceAgain }, ready ? 'Waiting for the others' : 'Race again')]
      : date
        ? [element('a', { class: 'button primary', href: '/mastermind' }, 'A free game')]
        : [element('button', { type: 'button', class: 'primary', click: () => send(another({ length: Number(length.value), repeats: repeats.value === 'yes' })) }, 'New game'), length, repeats];
    const shared = element('pre', { class: 'share', tabindex: '0', 'aria-label': 'Result to paste' }, text);
    const replay = replayOf(own);
    const telling = mostTelling(own);
    const key = [text, ...next.map((one) => one.textContent), code, replay].join();
    if (end.dataset.shown === key) return undefined;
    end.dataset.shown = key;
    return end.replaceChildren(
      element('h2', {}, head),
      ...(code.startsWith('*') ? [element('p', {}, 'The code is shown when the race is over.')] : []),
      ...(telling ? [element('p', {}, telling)] : []),
      shared,
      element('div', { class: 'row' }, ...next, ...(replay ? [element('a', { class: 'button', href: replay }, 'Replay')] : []), copyButton(() => text, 'Copy the result'), element('a', { class: 'button', href: '/' }, 'Lobby')),
    );
  };
  /**
   * The address of the replay of a game: its match has the number of the game. That of the puzzle of the day would show it to others.
   * @param {Board} own
   */
  const replayOf = ({ number }) => {
    const journal = state.room?.mode === 'daily' ? null : room?.match?.replace(/-\d+$/, '');
    return journal ? `/matches/${encodeURIComponent(`${journal}-${number}`)}` : null;
  };
  /** Whether the player wants to race again. */
  let ready = false;
  const raceAgain = () => {
    ready = true;
    send(another());
    show();
  };

  /** Whether this is not the first game at the puzzle of its day. @param {Board} own */
  const playedBefore = (own) => {
    const first = state.room?.mode === 'daily' ? recall(`mastermind ${state.room.date}`) : null;
    return first !== null && first.split(' ')[0] !== String(own.number);
  };

  const noteDay = (/** @type {Board} */ own) => {
    if (state.room?.mode !== 'daily' || !state.room.date || own.lines.length === 0) return;
    const key = `mastermind ${state.room.date}`;
    const first = recall(key);
    if (first === null) remember(key, `${own.number}`);
    if (own.over && (first === null || first.split(' ')[0] === String(own.number))) {
      remember(key, `${own.number} ${own.over.how} ${own.over.turns}`);
      remember(`mastermind result ${state.room.date}`, share(own, state.room.date, false));
    }
  };

  show();
  return {
    help: HELP,
    ownResult: true,
    open: () => {
      if (playable) send(playMessage(name));
    },
    message: (data) => {
      const message = typeof data === 'string' ? decode(data) : null;
      if (!message) return;
      fold(state, message);
      note = '';
      if (message.kind === 'ok') seated(String(message.seat));
      if (message.kind === 'game' && message.seat === state.seat) {
        ready = false;
        watched = null;
        draft.clear();
      }
      const own = ownBoard(state);
      if (own && playable) noteDay(own);
      if (message.kind === 'line' && message.seat === state.seat && playable) {
        if (message.line.kind === 'row') draft.clear();
        live.textContent = lineInWords(message.line);
        sound('card');
      }
      if (message.kind === 'over') {
        if (message.seat === state.seat && playable) sound(message.over.how === 'won' ? 'win' : 'loss');
        const who = message.seat === state.seat ? 'You' : (state.places.get(message.seat)?.name ?? 'Somebody');
        const { how, turns, code } = message.over;
        live.textContent = `${who} ${ENDS[how]}${how === 'won' ? ` in ${turns} turns` : ''}.${code.startsWith('*') ? '' : ` The code is ${inWords(code)}.`}`;
      }
      if (message.kind === 'no') live.textContent = message.text;
      show();
      changed();
    },
    room: (now) => {
      room = now;
      showEnd();
    },
    seat: (seat) => ({ colour: null, value: room ? progress(state.places.get(Number(seat))?.board ?? null) : '' }),
    leave: () => send(QUIT),
    stop: () => {
      draft.stop();
      stopKeys();
    },
  };
}
