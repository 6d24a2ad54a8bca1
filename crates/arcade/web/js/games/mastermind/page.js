import { errorText } from '../../lib/api.js';
import { confirm } from '../../lib/confirm.js';
import { copyButton, element, listenToKeys, sheet, updateChildren } from '../../lib/dom.js';
import { hud, upperEdge } from '../../lib/hud.js';
import { recall, remember } from '../../lib/settings.js';
import { sound } from '../../lib/sound.js';
import { say, sayIfKnown, sayNodes, sentence, translate } from '../../lib/text.js';
import { pictureButton } from './daily-picture.js';
import { Draft } from './draft.js';
import { casual, fold, initialState, knownCode, ownBoard, price, share } from './fold.js';
import { mostInformativeRow } from './information.js';
import { COLOURS, HINT, QUIT, RESIGN, TURNS, another, decode, guess as guessMessage, lifeline, play as playMessage } from './protocol.js';
import { inWords, lineInWords, peg, rowElements } from './rows.js';

export { rules } from './rules.js';
export { story } from './story.js';

await sheet('board.css', import.meta.url);

/** @typedef {import('./fold.js').Board} Board */

/** @type {import('../types.js').Help} */
const HELP = [
  ['tap', say('mastermind.help.tap')],
  ['drag', say('mastermind.help.drag')],
  ['red', say('mastermind.help.red')],
  ['white', say('mastermind.help.white')],
  ['1 to 8', say('mastermind.help.digit')],
  ['← →', say('mastermind.help.cursor')],
  ['↑ ↓', say('mastermind.help.turn')],
  ['⌫', say('mastermind.help.back')],
  ['Enter', say('mastermind.help.guess')],
  ['h', say('mastermind.help.hint')],
  ['?', say('help.these')],
];

/**
 * @param {import('../types.js').Stage} stage
 * @returns {import('../types.js').Play}
 */
export function play({ board, below, controls, more, live, playable, first, name, realName, send, seatChanged, changed }) {
  const state = initialState();
  /** The seat whose board is shown instead of the player's own. @type {number | null} */
  let watched = null;
  /** @type {import('../types.js').Room | null} */
  let room = null;
  /** A notice of the page, until the next message of the server. */
  let note = '';
  const draft = new Draft(() => show());

  const rows = element('ol', { class: 'pegrows', 'aria-label': say('mastermind.rows') });
  const known = element('div', { class: 'secret' });
  const tabs = element('div', { class: 'row tabs' });
  const tray = element('div', { class: 'tray', role: 'group', 'aria-label': say('mastermind.pegs') });
  const figures = hud(board);
  board.append(element('div', { class: 'pegs' }, tabs, known, rows));
  const advice = element('div', { class: 'advice', 'aria-live': 'polite' });
  const end = element('section', { class: 'result', 'aria-label': say('mastermind.yours'), hidden: true });
  const button = (/** @type {string} */ text, /** @type {() => void} */ click, primary = false) =>
    element('button', { type: 'button', class: primary ? 'primary large' : '', click }, text);
  const guess = button(say('mastermind.guess'), () => submit(), true);
  const back = button(say('mastermind.back'), () => draft.back());
  const lifelines = /** @type {const} */ ([1, 2]).map((which) => ({ which, made: button('', () => send(lifeline(which))) }));
  const hint = button(say('mastermind.hint'), () => void askHint());
  const resign = button(say('mastermind.resign'), async () => {
    const today = state.room?.mode === 'daily';
    const lost = say(today ? 'mastermind.resign.daily' : 'mastermind.resign.solo');
    if (await confirm(say('mastermind.resign.sure'), lost, say('mastermind.resign'))) send(RESIGN);
  });
  if (playable) {
    // These stay within reach of the thumb.
    controls.append(tray, guess, back);
    more.append(...lifelines.map(({ made }) => made), hint, resign, advice);
    below.prepend(end);
  }

  /** The game that the player has agreed to make casual by a hint. */
  let warned = 0;
  const askHint = async () => {
    const game = ownBoard(state)?.number ?? 0;
    if (!hint.disabled && room?.rated && warned !== game) {
      if (!(await confirm(say('mastermind.hint.sure'), say('mastermind.hint.casual'), say('mastermind.hint')))) return;
      warned = game;
    }
    send(HINT);
  };

  const submit = () => {
    const code = draft.code();
    if (state.turn && code) send(guessMessage(code));
    else if (state.turn) noteDown(say('mastermind.short', { count: draft.length }));
  };
  const noteDown = (/** @type {string} */ text) => {
    note = text;
    show();
  };

  const stopKeys = listenToKeys((event) => {
    if (!playable || !state.turn) return false;
    const { key } = event;
    // Keys apply to the player's own game, whichever board is shown.
    if (/^([1-8h]|Backspace|Arrow\w+)$/.test(key)) watched = null;
    if (/^[1-8]$/.test(key)) draft.set(key);
    else if (key === 'Backspace') draft.back();
    else if (key === 'ArrowLeft') draft.move(-1);
    else if (key === 'ArrowRight') draft.move(1);
    else if (key === 'ArrowUp') draft.turn(1);
    else if (key === 'ArrowDown') draft.turn(-1);
    else if (key === 'Enter') submit();
    else if (key === 'h') void askHint();
    else return false;
    return true;
  });

  for (let digit = 1; digit <= COLOURS; digit += 1) {
    const label = say('mastermind.pick', { digit, colour: sayIfKnown(`mastermind.colour.${digit}`, '') });
    const made = element('button', { type: 'button', class: 'pick', 'aria-label': label }, peg(String(digit)));
    draft.pick(made, String(digit));
    tray.append(made);
  }

  /** The visible board, and whether it is the player's own. */
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
    // Another player's board does not change the draft.
    if (own && shown) draft.resize(shown.rules.length, shown.number);
    tray.hidden = !playing;
    if (shown) {
      const code = shown.over?.code.startsWith('*') === false ? shown.over.code : knownCode(shown);
      const label = shown.over?.code.startsWith('*') === false ? say('mastermind.code.is', { code: inWords(code) }) : code.includes('*') && /\d/.test(code) ? say('mastermind.code.like', { code }) : say('mastermind.code.hidden');
      updateChildren(known, element('span', { class: 'soft' }, say('mastermind.code')), element('span', { class: 'holes', role: 'img', 'aria-label': label }, ...[...code].map(peg)));
      updateChildren(rows, ...rowElements(shown, playing ? draft.element() : null, first && own));
    } else {
      known.replaceChildren();
      rows.replaceChildren();
    }
    const turn = state.turn ? /** @type {[string, string][]} */ ([[`${state.turn.turn}/${TURNS}`, say('mastermind.row')]]) : null;
    showAdvice();
    showEnd();
    figures.show(note || status(), turn, null, (turn !== null || !end.hidden) && note === '');
    guess.disabled = !playing || draft.code() === null;
    back.disabled = !playing || draft.isEmpty();
    hint.disabled = !playing || state.room?.mode === 'race' || draft.length > 6;
    hint.hidden = state.room?.mode === 'race';
    resign.disabled = !playing;
    for (const { which, made } of lifelines) {
      const granted = state.turn?.lifelines[which - 1];
      const cost = granted === 'used' ? say('mastermind.lifeline.used') : granted === 'blocked' ? say('mastermind.lifeline.late') : say('mastermind.lifeline.cost', { count: price(which) });
      made.textContent = say(which === 1 ? 'mastermind.lifeline.digit' : 'mastermind.lifeline.place', { cost });
      made.disabled = !playing || granted !== 'available';
    }
    for (const one of [guess, back, hint, resign, ...lifelines.map(({ made }) => made)]) one.classList.toggle('gone', !playing);
  };

  const showTabs = (/** @type {number | null} */ shown) => {
    const seats = [...state.places].filter(([, place]) => place.board);
    tabs.hidden = seats.length < 2;
    updateChildren(
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
          say('mastermind.tab', { name: seat === state.seat ? say('mastermind.you') : nameOf(seat), progress: progress(place.board) }),
        ),
      ),
    );
  };

  const progress = (/** @type {Board | null} */ game) => {
    if (!game) return say('mastermind.progress.waits');
    if (game.over) return game.over.how === 'won' ? say('mastermind.progress.won', { turns: game.over.turns }) : say(`mastermind.progress.${game.over.how}`);
    const last = game.lines[game.lines.length - 1];
    return last ? say('mastermind.progress.row', { turn: last.turn }) : say('mastermind.progress.begins');
  };

  const status = () => {
    if (state.closingText) return sentence(translate(state.closingText));
    if (state.refused) return sentence(translate(state.refused));
    if (state.turn) return say('mastermind.status.row', { turn: state.turn.turn, turns: TURNS, count: draft.length });
    if (state.missing !== null && state.missing > 0) return say('mastermind.status.missing', { count: state.missing });
    if (state.places.size === 0) return say(playable ? 'mastermind.status.seating' : 'mastermind.status.nobody');
    const { shown, seat } = looked();
    if (!shown || seat === null) return '';
    if (shown.over) return ending(seat, shown.over);
    return seat === state.seat ? say('mastermind.status.you') : say('mastermind.status.other', { name: nameOf(seat) });
  };
  const nameOf = (/** @type {number} */ seat) => {
    const place = state.places.get(seat);
    return place ? realName(String(seat), place.name) : say('mastermind.somebody');
  };

  /** The end of a player's game, in a sentence. @param {number} seat @param {NonNullable<Board['over']>} over */
  const ending = (seat, { how, turns }) => {
    if (seat === state.seat) return how === 'won' ? say('mastermind.you.won', { count: turns }) : say(`mastermind.you.${how}`);
    const name = nameOf(seat);
    return how === 'won' ? say('mastermind.other.won', { name, count: turns }) : say(`mastermind.other.${how}`, { name });
  };

  const showAdvice = () => {
    const hint = state.advice;
    if (!hint) return advice.replaceChildren();
    const { guess: code, remaining, bits, expected, worst, mayWin } = hint;
    const use = element('button', { type: 'button', 'data-key': code, click: () => draft.fill(code) }, say('mastermind.advice.use'));
    const why = remaining === 1
      ? say('mastermind.advice.only')
      : `${say('mastermind.advice.tells', { bits, expected, worst })} ${say(mayWin ? 'mastermind.advice.may' : 'mastermind.advice.cannot')}`;
    const holes = element('span', { class: 'holes', role: 'img', 'aria-label': inWords(code) }, ...[...code].map(peg));
    return updateChildren(
      advice,
      element(
        'div',
        { class: 'panel' },
        element('p', {}, ...sayNodes('mastermind.advice', { count: remaining, code: holes }), ' ', why),
        element('div', { class: 'row' }, use, ...(state.possible.length > 1 ? [element('span', { class: 'note' }, say('mastermind.advice.possible', { codes: state.possible.join(', ') }))] : [])),
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
    const head = how === 'won' ? say('mastermind.end.won', { count: turns }) : say(`mastermind.end.${how}`);
    const length = element('select', { 'aria-label': say('mastermind.next.length') }, ...[4, 5, 6, 7, 8].map((pegs) => element('option', { value: String(pegs), selected: pegs === own.rules.length }, say('mastermind.length', { count: pegs }))));
    const repeats = element('select', { 'aria-label': say('mastermind.next.repeats') }, element('option', { value: 'yes', selected: own.rules.repeats }, say('mastermind.repeats.yes')), element('option', { value: 'no', selected: !own.rules.repeats }, say('mastermind.repeats.no')));
    const next = room?.closing
      ? []
      : racing
        ? isRaceRunning() ? [] : [element('button', { type: 'button', class: 'primary again', disabled: ready, click: raceAgain }, say(ready ? 'mastermind.next.waits' : 'mastermind.next.race'))]
        : date
          ? [element('a', { class: 'button primary', href: '/mastermind' }, say('mastermind.next.free'))]
          : [element('button', { type: 'button', class: 'primary', click: () => send(another({ length: Number(length.value), repeats: repeats.value === 'yes' })) }, say('mastermind.next.new')), length, repeats];
    const shared = element('pre', { class: 'share', role: 'group', tabindex: '0', 'aria-label': say('mastermind.end.result') }, text);
    const replay = replayOf(own);
    const telling = mostInformativeRow(own);
    const key = [text, ...next.map((one) => one.textContent), code, replay].join();
    if (end.dataset.shown === key) return undefined;
    end.dataset.shown = key;
    return end.replaceChildren(
      element('h2', {}, head),
      ...(code.startsWith('*') ? [element('p', {}, say('mastermind.end.hidden'))] : []),
      ...(telling ? [element('p', {}, telling)] : []),
      shared,
      element('div', { class: 'row' }, ...next, ...(replay ? [element('a', { class: 'button', href: replay }, say('page.replay'))] : []), copyButton(() => text, say('mastermind.end.copy')), ...(date ? [pictureButton(date, text, (error) => noteDown(errorText(error)))] : []), element('a', { class: 'button', href: '/' }, say('page.lobby'))),
    );
  };
  /**
   * Its match has the number of the game. The daily puzzle has none, since it would reveal the code.
   * @param {Board} own
   */
  const replayOf = ({ number }) => {
    const journal = state.room?.mode === 'daily' ? null : room?.match?.replace(/-\d+$/, '');
    return journal ? `/matches/${encodeURIComponent(`${journal}-${number}`)}` : null;
  };
  const isRaceRunning = () => [...state.places.values()].some(({ board: other }) => other && !other.over);
  /** Whether the player wants to race again. */
  let ready = false;
  const raceAgain = () => {
    ready = true;
    send(another());
    show();
  };

  /** Whether the player has played this daily puzzle before. @param {Board} own */
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
    get ownResult() {
      return state.room?.mode !== 'race';
    },
    open: () => {
      if (playable) send(playMessage(name));
    },
    message: (data) => {
      const message = typeof data === 'string' ? decode(data) : null;
      if (!message) return;
      fold(state, message);
      note = '';
      if (message.kind === 'ok') seatChanged(String(message.seat));
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
        const { code } = message.over;
        live.textContent = ending(message.seat, message.over) + (code.startsWith('*') ? '' : ` ${say('mastermind.reveals', { code: inWords(code) })}`);
      }
      if (message.kind === 'no') live.textContent = translate(message.text);
      show();
      changed();
    },
    room: (now) => {
      room = now;
      show();
    },
    // The code is not in the ranking.
    sentences: async () => {
      const own = ownBoard(state);
      const code = [...state.places.values()].map(({ board: other }) => other?.over?.code ?? '*').find((one) => !one.startsWith('*'));
      return [code && say('mastermind.reveals', { code: inWords(code) }), own && mostInformativeRow(own)].filter((one) => typeof one === 'string');
    },
    seat: (seat) => ({ value: room ? progress(state.places.get(Number(seat))?.board ?? null) : '' }),
    anchor: (seat) => {
      const tab = tabs.querySelector(`[data-key='${Number(seat)}']`);
      return tab ? upperEdge(board, tab) : null;
    },
    isPlaying: () => {
      const own = ownBoard(state);
      return own && state.room?.mode !== 'race' ? own.over === null : undefined;
    },
    casual: () => {
      const own = ownBoard(state);
      return casual(state) ?? (own && playedBefore(own) ? 'again' : null);
    },
    playAgain: () => {
      if (state.room?.mode !== 'race') return false;
      raceAgain();
      return true;
    },
    leave: () => send(QUIT),
    stop: () => {
      draft.stop();
      stopKeys();
    },
  };
}
