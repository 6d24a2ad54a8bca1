// The interface between a game and the page, and the objects that the hub sends.

export type Player = {
  name: string;
  /** The name in messages of the game, if it is another one. */
  wire?: string;
  seat: string;
  proven?: boolean;
  bot?: boolean;
  /** Whether the player owns the room and has its page open. */
  owner?: boolean;
};
export type Row = Player & {
  rank: number;
  score: number;
  left?: boolean;
  /** In words, with facts that only the page knows. */
  detail?: string;
};
/** As the hub sends it. */
export type Room = {
  id: string;
  game: string;
  title: string;
  phase: string;
  taken: number;
  seats: number;
  /** Port for native clients; 0 for pages without access to the room. */
  port: number;
  /** Host for native clients, in an arcade of several hubs. */
  host?: string;
  players: Player[];
  /** The number of players, if `players` is truncated. */
  count?: number;
  result?: Row[] | null;
  watchers?: number;
  permanent?: boolean;
  /** The class of its matches, whether they are rated, and why they are casual. */
  class?: string;
  rated?: boolean;
  casual?: string;
  /** Chosen by its owner. */
  name?: string | null;
  visibility?: 'public' | 'link' | 'word' | 'class' | 'challenge';
  /** The code of its link, sent to members only. */
  code?: string;
  owned?: boolean;
  locked?: boolean;
  match?: string | null;
  options?: Record<string, unknown>;
  /** Scores by seat, if the game's protocol does not send them to all clients. */
  scores?: Record<string, number>;
  /** The cards of the last round at each table of blackjack: the dealer's, the hole card first, and those of each seat. */
  rounds?: { table: number, round: number, dealer: string[], hands: Record<string, string[]> }[];
  /** A new player can hardly win any more. */
  late?: boolean;
  /** Seconds, from the creation of this message. */
  bots_in?: number | null;
  /** Null if the room is open. */
  closing?: string | null;
};
export type Match = { id: string; game: string; title: string; room: string; started: string; seconds: number; players: Row[]; count?: number; class?: string; rated?: boolean; casual?: string };
/** A rating, or an average in games for one player. */
export type Standing = { rating: number | null; uncertainty: number | null; mean: number | null; provisional: boolean; matches: number; wins: number };
export type Leader = Standing & { rank: number; name: string; proven?: boolean; bot?: boolean };

export type Lobby = {
  rooms: Room[];
  look?: { game: string | null; text: string; from: number; count: number };
  /** Rooms that match the filter. */
  total?: number;
  recent?: Match[];
  leaders?: Record<string, Leader[]>;
  /** The rooms of other hubs may be out of date. */
  unsure?: boolean;
};

export type Leave = () => void;
/** A page besides the rooms: its address and its module. */
export type Page = [RegExp, () => Promise<{ showPage: (main: HTMLElement, first: Lobby) => Leave }>];

export type Game = {
  name: string;
  title: string;
  /** The goal, in a sentence. */
  line: string;
  /** A score of a result in words. */
  score: (score: number) => string;
  /** The distance between two scores in words. */
  gap: (count: number) => string;
  /**
   * Joins a room from a terminal, and starts with the name of the program. `bare` is the host without the brackets of
   * an IPv6 address; `directory` is empty, or a space and the option with the directory of a room that moves.
   */
  command: (room: { host: string; bare: string; port: number; directory: string }) => string;
  bots: boolean;
  /** Whether results show the score of a series of rematches. */
  series?: boolean;
  /** The lowest score wins. */
  fewerWins?: boolean;
  /** Whether a player with this score has lost even without opponents. */
  isLost?: (score: number) => boolean;
  /** Each player has a separate game, so seats never run out. */
  isAlone: (room: Room) => boolean;
  picture: () => Picture;
  load: () => Promise<Loaded>;
  /** The page of the daily puzzle or challenge. */
  daily?: string;
  /** The daily challenge: its score in words, and how it is counted. */
  challenge?: { score: (score: number) => string, text: string };
  pages: Page[];
};

/** Loaded on demand: the board, the rules as pictures, and the highlights of a match. */
export type Loaded = {
  play: Start;
  rules: import('../lib/rules.js').Rule[];
  story?: Story;
  /** Marks that need the frames of a replay: sentences and their times in milliseconds. */
  frameMarks?: (frames: import('../lib/playback.js').Frame[], realName: Stage['realName']) => { at: number, kind: string, text: string }[];
};

/** By name; see `picture.rs` of each game. */
export type Parts = Record<string, unknown>;

export type Picture = {
  /** Draws an example if there are no parts, since the room is empty. */
  draw: (context: CanvasRenderingContext2D, width: number, height: number, parts: Parts | null) => void;
};

export type Start = (stage: Stage) => Play;

export type Stage = {
  board: HTMLElement;
  /** Contains texts for screen readers and other elements below the board. */
  below: HTMLElement;
  /** Contains the buttons of moves, which stay in the viewport. */
  controls: HTMLElement;
  more: HTMLElement;
  /** The live region for screen readers. */
  live: HTMLElement;
  /** The messages are those for spectators. */
  watching: boolean;
  /** Whether the user plays: not as a spectator, nor in a replay. */
  playable: boolean;
  /** The page shows a replay. */
  isReplay: boolean;
  /** No match of the game has been finished in this browser, so the game shows help. */
  first: boolean;
  name: string;
  /** The name of the player at a seat with this name in messages of the game. */
  realName: (seat: string, wire: string) => string;
  /** The face of the player with this name in messages of the game, or at this seat. */
  face: (seat: string, name?: string) => import('../lib/face.js').Face;
  /** The last value that was passed to `save` at this seat. */
  saved: string | null;
  /** Data of the seat that the server does not send again after a reload. */
  save: (value: string) => void;
  send: (data: string | Uint8Array<ArrayBuffer>) => void;
  /** Reports the player's seat, in the format of the game. */
  seatChanged: (own: string | null) => void;
  /** Reports that scores or the result have changed. */
  changed: () => void;
};

export type Play = {
  /** A new connection has no seat: join the game. */
  open: () => void;
  message: (data: string | ArrayBuffer) => void;
  room: (room: Room) => void;
  /** Receives the player's seat from the hub: null if there is none, empty while waiting for one. */
  setSeat?: (seat: string | null) => void;
  stop: () => void;
  seat?: (seat: string) => Seat;
  /** The middle of the seat's upper edge in CSS pixels; null if it is not in sight. */
  anchor?: (seat: string) => { x: number; y: number } | null;
  /** Seats with the best score. */
  leaders?: () => string[];
  /** Sentences that are not in the journal. */
  sentences?: () => Promise<string[]>;
  /** The result of a finished game, from best to worst. */
  result?: () => Row[] | null;
  /** The game shows the result of the user's own game itself. */
  readonly ownResult?: boolean;
  /** The end of the match is still shown, without the result. The game calls `changed` when this is over. */
  isEnding?: () => boolean;
  /** Whether the player's own game runs; undefined if it is as long as the match. */
  isPlaying?: () => boolean | undefined;
  /** Why the player's own game is casual in a rated room. */
  casual?: () => string | null;
  /** Joins another game over the same connection. Returns false if a new connection is needed. */
  playAgain?: () => boolean;
  leave?: () => void;
  help?: Help;
};

/** An event of a match, as the hub sends it: collected gold has a name and a count, a destroyed robot a name. */
export type Mark = { at: number, kind: string, text: string, name?: string, count?: number };
export type Moment = { at: number, text: string };
/**
 * Highlights from the marks of the journal, the result and the frames for spectators: sentences and their times in
 * milliseconds, best first. `frames` returns the last minutes before a time, by default before the end.
 */
export type Story = (marks: Mark[], rows: Row[], frames: (before?: number) => Promise<import('../lib/playback.js').Frame[]>) => Moment[] | Promise<Moment[]>;
/** `note` is a remark such as the age of the score. Narrow screens show no `unit`. */
export type Seat = { value: string; unit?: string; note?: string };
/** Keys or gestures, and their effects. */
export type Help = [string, string][];
