import { Surface } from '../../lib/canvas.js';
import { element, listenToKeys, toggle } from '../../lib/dom.js';
import { hud } from '../../lib/hud.js';
import { highest } from '../../lib/leaders.js';
import { shake } from '../../lib/motion.js';
import { prefersReducedMotion } from '../../lib/settings.js';
import { sound } from '../../lib/sound.js';
import { list, say } from '../../lib/text.js';
import { draw, layout } from './board.js';
import { asText, blast, fold, hitsBy, initialState, positionKey, ranking, tally } from './fold.js';
import { decode, join, move, placeBlock, placeBomb } from './protocol.js';
import { hitInWords } from './story.js';

export { rules } from './rules.js';
export { frameMarks, story } from './story.js';

/** @typedef {import('./protocol.js').Direction} Direction */
/** @typedef {import('./board.js').Action} Action */

const KEYS = /** @type {Record<string, Direction>} */ ({
  ArrowUp: 'up', ArrowRight: 'right', ArrowDown: 'down', ArrowLeft: 'left',
  w: 'up', d: 'right', s: 'down', a: 'left',
});
/** As in the terminal client. */
const BOMB = [' ', 'j', 'z'];
const BLOCK = ['k', 'x'];
/** How many turns the news of a hit is shown. */
const NEWS = 8;
/** The board before the server has sent its size. */
const EMPTY = { name: '', players: 0, width: 16, height: 12, length: 0, radius: 0, timer: 1 };

/** @type {import('../types.js').Help} */
const HELP = [
  ['← ↑ ↓ →', say('robots.help.move')],
  ['Space j z', say('robots.help.bomb')],
  ['k x', say('robots.help.block')],
  ['b', say('robots.help.blasts')],
  ['tap', say('robots.help.tap')],
  ['?', say('help.these')],
];

/**
 * @param {import('../types.js').Stage} stage
 * @returns {import('../types.js').Play}
 */
export function play({ board, below, controls, more, live, watching, playable, isReplay, first, name, realName, face, send, seatChanged, changed }) {
  const state = initialState();
  /** @type {number | null} */
  let own = null;
  /** The seat from the hub, since the messages of the server do not identify the client's own player. @type {number | null} */
  let hubSeat = null;
  let joining = false;
  let threatens = false;
  /** The last action, which counts for the next turn. @type {Action | null} */
  let chosen = null;
  let turnStart = 0;
  let size = { width: 0, height: 0, covered: 0 };
  /** Where the player's robot reappeared in the last turn. @type {import('./fold.js').Position | null} */
  let returned = null;
  /** The last game, until the next one starts. @type {import('./fold.js').Game | null} */
  let finished = null;
  /** Whether to join the next game automatically, until the player has got a seat. */
  let waits = false;
  /** @type {Map<number, import('../../lib/canvas.js').Glide>} */
  const glides = new Map();
  const sayJoin = () => {
    joining = true;
    send(join(name));
    show();
  };
  const joinButton = element('button', { type: 'button', class: 'primary', click: sayJoin }, say('robots.join'));
  const text = element('pre', { class: 'hidden', 'aria-label': say('robots.board.text'), role: 'group' });
  /** @type {Surface} */
  const surface = new Surface(board, say('robots.board'), (context, width, height, now) => {
    const settings = state.settings ?? EMPTY;
    size = { width, height, covered: figures.panel.offsetHeight };
    const threatened = threatens ? danger() : null;
    const at = own === null ? null : (state.game?.positions.get(own) ?? null);
    board.classList.toggle('low', at !== null && 2 * at.y + 1 < settings.height);
    return draw(context, state.game ?? finished, settings, { ...size, own, face: faceOf, threatened, glides, now, since: turnStart, still: prefersReducedMotion(), chosen, returned });
  });
  const figures = hud(board);
  /** The last hit on the player or by the player. */
  const news = element('p', { class: 'news', 'aria-hidden': 'true' });
  let newsTurn = -NEWS;
  figures.panel.append(news);
  below.append(text);

  /** Undefined if the page does not know the player. @param {number} id */
  const playerName = (id) => {
    const wire = (state.game ? state.players : (state.last?.players ?? state.players)).get(id)?.name;
    return wire === undefined ? undefined : realName(String(id), wire);
  };
  const faceOf = (/** @type {number} */ id) => face(String(id), playerName(id));

  /** Fields that the explosions of the present bombs will cover, given the current blocks. */
  const danger = () => {
    /** @type {Map<string, import('./fold.js').Position>} */
    const covered = new Map();
    const { game, settings } = state;
    if (game && settings) {
      for (const bomb of game.bombs.values()) {
        for (const cell of blast(bomb.position, settings, game.blocks)) covered.set(positionKey(cell), cell);
      }
    }
    return covered;
  };

  /** @type {Map<string, HTMLButtonElement>} Buttons by the action. */
  const buttons = new Map();
  const nameOf = (/** @type {Action} */ action) => (action.kind === 'move' ? action.direction : action.kind);
  /** @param {Action} action */
  const act = (action) => {
    if (own === null || !state.game) return;
    chosen = action;
    send(action.kind === 'move' ? move(action.direction) : action.kind === 'bomb' ? placeBomb() : placeBlock());
    showChoice();
  };
  const showChoice = () => {
    const name = chosen && nameOf(chosen);
    for (const [one, button] of buttons) button.classList.toggle('chosen', one === name);
    surface.change();
  };
  const blasts = toggle(say('robots.blasts'), (on) => {
    threatens = on;
    surface.change();
  });
  const stopKeys = listenToKeys((event) => {
    if (event.key === 'b') {
      blasts.click();
      return true;
    }
    if (!playable) return false;
    const direction = KEYS[event.key];
    if (direction) act({ kind: 'move', direction });
    else if (BOMB.includes(event.key)) act({ kind: 'bomb' });
    else if (BLOCK.includes(event.key)) act({ kind: 'block' });
    else return false;
    return true;
  });

  if (playable) {
    /**
     * @param {string} label
     * @param {string} shown
     * @param {Action} action
     */
    const button = (label, shown, action) => {
      const made = element('button', { type: 'button', 'aria-label': label, class: `on-${nameOf(action)}` }, shown);
      // A click follows only when the finger is lifted.
      made.addEventListener('pointerdown', (event) => {
        if (event.button === 0) act(action);
      });
      made.addEventListener('click', (event) => {
        // A click by the keyboard or a screen reader.
        if (event.detail === 0) act(action);
      });
      buttons.set(nameOf(action), made);
      return made;
    };
    controls.append(
      joinButton,
      element(
        'div',
        { class: 'pad' },
        button(say('robots.move.up'), '▲', { kind: 'move', direction: 'up' }),
        button(say('robots.move.left'), '◀', { kind: 'move', direction: 'left' }),
        button(say('robots.move.right'), '▶', { kind: 'move', direction: 'right' }),
        button(say('robots.move.down'), '▼', { kind: 'move', direction: 'down' }),
      ),
      element('div', { class: 'actions' }, button(say('robots.bomb.label'), say('robots.bomb'), { kind: 'bomb' }), button(say('robots.block.label'), say('robots.block'), { kind: 'block' })),
    );
  }
  more.append(blasts);
  if (first && playable) blasts.click();

  const show = () => {
    const { settings, game } = state;
    controls.classList.toggle('idle', game === null || own === null);
    // It changes with every turn: a screen reader would read nothing else.
    figures.status.setAttribute('aria-live', game ? 'off' : 'polite');
    if (!settings) return figures.show(say('robots.status.waits'), null, null);
    // Beside a result, the button for a rematch replaces this one.
    joinButton.hidden = game !== null || own !== null || joining || state.last !== null;
    if (game) {
      const looking = own !== null || watching ? '' : ` ${say(joining ? 'robots.status.joining' : 'robots.status.looking')}`;
      const deaths = own === null ? undefined : game.scores.get(own);
      const hits = own === null ? null : hitsBy(game, own);
      const score = deaths === undefined ? '' : ` ${tally(hits, deaths)}.`;
      const line = say('robots.status.turn', { turn: game.turn, turns: settings.length }) + score + looking;
      /** @type {import('../../lib/hud.js').Figure} */
      const figure = deaths === undefined ? null : [[deaths, say('robots.deaths', { count: deaths })]];
      if (hits !== null) figure?.unshift([hits, say('robots.hits.label', { count: hits })]);
      figures.show(line, figure, [[`${game.turn}/${settings.length}`, say('robots.turn')]], looking === '');
      if (game.turn - newsTurn >= NEWS) news.textContent = '';
      text.textContent = asText(game, settings, own);
    } else {
      const mine = own === null ? (playable ? ` ${say('robots.status.join')}` : '') : ` ${say('robots.status.in')}`;
      const waiting = say('robots.status.players', { there: state.players.size, players: settings.players }) + mine;
      figures.show(isReplay && finished ? say('room.end.over') : waiting, null, null);
      news.textContent = '';
    }
    return surface.change();
  };
  /** Announces a hit on the player or by the player in this turn. @param {import('./fold.js').Game} game @param {number} id */
  const announceHit = (game, id) => {
    const sentence = hitInWords(game, id, (other) => playerName(other) ?? String(other));
    if (sentence === null) return;
    news.textContent = sentence;
    live.textContent = `${sentence} ${tally(hitsBy(game, id), game.scores.get(id) ?? 0)}.`;
    newsTurn = game.turn;
  };
  show();

  return {
    help: HELP,
    open: () => {
      waits = playable;
      if (waits) sayJoin();
    },
    message: (data) => {
      const message = data instanceof ArrayBuffer ? decode(new Uint8Array(data)) : null;
      if (!message) return;
      if (message.kind === 'hello') {
        // A snapshot follows.
        own = null;
        glides.clear();
      }
      if (message.kind === 'ended') {
        const rows = ranking(state.players, message.scores);
        const first = rows.filter(({ rank }) => rank === 1);
        live.textContent = say('robots.over', { names: list(first.map(({ id, name: wire }) => realName(String(id), wire))) });
        sound(first.some(({ id }) => id === own) ? 'win' : 'loss');
        chosen = null;
        finished = state.game;
      }
      if (message.kind === 'started') {
        glides.clear();
        live.textContent = say('robots.started');
      }
      const positions = new Map(state.game?.positions);
      fold(state, message);
      settle();
      if (message.kind === 'turn' && state.game) {
        chosen = returned = null;
        turnStart = performance.now();
        glide(positions, state.game);
        if (state.game.blasts.size > 0) sound('bomb');
        if (state.game.destroyed.length > 0 && !isReplay) shake(surface.canvas);
        if (own !== null) announceHit(state.game, own);
        if (state.game.destroyed.some(({ player }) => player === own)) {
          returned = state.game.positions.get(/** @type {number} */ (own)) ?? null;
          sound('death');
        }
        showChoice();
      }
      if (message.kind !== 'turn' || (state.game?.destroyed.length ?? 0) > 0) changed();
      show();
      if (message.kind === 'ended') {
        // The player keeps the seat until the result is processed.
        own = hubSeat = null;
        joining = false;
        if (waits) sayJoin();
        show();
      } else if (message.kind === 'accepted' && own === null && state.games > 0) {
        // The numbers belong to other players now.
        seatChanged(null);
      }
    },
    room: () => {},
    setSeat: (seat) => {
      hubSeat = seat ? Number(seat) : null;
      settle();
      show();
    },
    seat: (seat) => {
      const id = Number(seat);
      const deaths = state.game?.scores.get(id);
      if (!state.game || deaths === undefined) return { value: '' };
      const hits = hitsBy(state.game, id);
      return { value: String(deaths), unit: say('robots.deaths', { count: deaths }), note: hits === null ? '' : say('robots.hits', { count: hits }) };
    },
    anchor: (seat) => {
      const position = state.game?.positions.get(Number(seat));
      const { field, x, y } = layout(state.settings ?? EMPTY, size);
      return position ? { x: x(position) + field / 2, y: y(position) } : null;
    },
    // Fewest destructions lead.
    leaders: () => highest([...(state.game?.scores ?? [])].map(([id, deaths]) => [String(id), -deaths])),
    result: () =>
      state.game || !state.last
        ? null
        : ranking(state.last.players, state.last.scores).map(({ rank, id, name: wire, score }) => ({ rank, name: realName(String(id), wire), seat: String(id), score, detail: tally(finished && hitsBy(finished, id), score) })),
    playAgain: () => {
      sayJoin();
      return true;
    },
    stop: () => {
      stopKeys();
      surface.stop();
    },
  };

  /** Takes the seat from the hub once the server has announced the player too. */
  function settle() {
    if (hubSeat !== null && hubSeat !== own && state.players.has(hubSeat)) sit(hubSeat);
  }

  /** @param {number} id */
  function sit(id) {
    own = id;
    joining = waits = false;
    seatChanged(String(id));
  }

  /**
   * @param {Map<number, import('./fold.js').Position>} positions Before the turn.
   * @param {import('./fold.js').Game} game
   */
  function glide(positions, game) {
    glides.clear();
    if (prefersReducedMotion()) return;
    for (const [id, to] of game.positions) {
      const from = positions.get(id);
      if (from && Math.abs(from.x - to.x) + Math.abs(from.y - to.y) === 1) {
        glides.set(id, { fromX: from.x, fromY: from.y, toX: to.x, toY: to.y, since: turnStart });
      }
    }
  }
}
