// The interface between a game and the page, and the objects that the hub sends: rooms, players and matches.

export type Player = {
  name: string;
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
  /** The score in words, with facts that only the page knows. */
  detail?: string;
};
/** A room as the hub sends it. */
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
  /** The name that its owner has chosen. */
  name?: string | null;
  /** Who can join. */
  visibility?: 'public' | 'link' | 'word';
  /** The code of its link, sent to members only. */
  code?: string;
  /** Whether it has an owner. */
  owned?: boolean;
  /** Whether it rejects new players. */
  locked?: boolean;
  match?: string | null;
  options?: Record<string, unknown>;
  /** Current scores by seat, if the protocol of the game does not send them to all clients. */
  scores?: Record<string, number>;
  /** The dealer's hand of the last round at each table of blackjack, the hole card first. */
  dealers?: { table: number, round: number, cards: string[] }[];
  /** Whether the match is so far decided that a new player can hardly win. */
  late?: boolean;
  /** Seconds until bots join, counted from when this message was created. */
  bots_in?: number | null;
  /** Why the room is closed; null if it is open. */
  closing?: string | null;
};
export type Match = { id: string; game: string; title: string; room: string; started: string; seconds: number; players: Row[]; count?: number; class?: string; rated?: boolean; casual?: string };
/** The standing of a player on a leaderboard: a rating, or an average in games for one player. */
export type Standing = { rating: number | null; uncertainty: number | null; mean: number | null; provisional: boolean; matches: number; wins: number };
export type Leader = Standing & { rank: number; name: string; proven?: boolean; bot?: boolean };

/** The content of the lobby. */
export type Lobby = {
  rooms: Room[];
  /** The filter of the rooms. */
  look?: { game: string | null; text: string; from: number; count: number };
  /** The number of rooms that match the filter. */
  total?: number;
  recent?: Match[];
  leaders?: Record<string, Leader[]>;
  /** Whether the rooms of other hubs may be out of date. */
  unsure?: boolean;
};

/** Leaves a page. */
export type Leave = () => void;
/** A page of a game besides its rooms: its address and its module. */
export type Page = [RegExp, () => Promise<{ showPage: (main: HTMLElement, first: Lobby) => Leave }>];

/** A game, as exported by `index.js` of its folder. */
export type Game = {
  /** The name in addresses. */
  name: string;
  title: string;
  /** The goal of the game, in a sentence. */
  line: string;
  /** A score of a result in words. */
  score: (score: number) => string;
  /** The distance between two scores in words. */
  gap: (count: number) => string;
  /**
   * The command that joins a room from a terminal. It starts with the name of the program. `bare` is the host without the brackets of an
   * IPv6 address; `directory` is empty, or a space and the option with the directory of a room that moves.
   */
  command: (room: { host: string; bare: string; port: number; directory: string }) => string;
  /** Whether the hub has bots for the game. */
  bots: boolean;
  /** Whether each player of a room has a separate game, so that seats never run out. */
  isAlone: (room: Room) => boolean;
  /** Makes a small picture of a room. */
  picture: () => Picture;
  /** Loads the page of the rooms. */
  load: () => Promise<Loaded>;
  pages: Page[];
};

/** The page of the rooms of a game, loaded on demand: the board, the rules as pictures, and the highlights of a match. */
export type Loaded = {
  play: Start;
  rules: import('../lib/rules.js').Rule[];
  story?: Story;
  /** Marks of a replay that need its frames: sentences and their times in milliseconds. */
  retell?: (frames: import('../lib/playback.js').Frame[]) => { at: number, kind: string, text: string }[];
};

/** The parts of a picture by name; see `picture.rs` of each game. */
export type Parts = Record<string, unknown>;

/** A small picture of a room. */
export type Picture = {
  /** Draws the parts, or an example if there are none, since the room is empty. */
  draw: (context: CanvasRenderingContext2D, width: number, height: number, parts: Parts | null) => void;
};

/** Starts a game on its page. */
export type Start = (stage: Stage) => Play;

/** The elements and callbacks that the page of a game receives. */
export type Stage = {
  /** Contains the board. */
  board: HTMLElement;
  /** Contains texts for screen readers and other elements below the board. */
  below: HTMLElement;
  /** Contains the buttons of moves, which stay in the viewport. */
  controls: HTMLElement;
  /** Contains other buttons. */
  more: HTMLElement;
  /** The live region for screen readers. */
  live: HTMLElement;
  /** Whether the messages are those for spectators. */
  watching: boolean;
  /** Whether the user plays: not as a spectator, nor in a replay. */
  playable: boolean;
  /** Whether this is a replay. */
  film: boolean;
  /** Whether no match of the game has been finished in this browser, so that the game shows help. */
  first: boolean;
  /** The player's name. */
  name: string;
  /** The last value that was passed to `keep` at this seat. */
  past: string | null;
  /** Stores data of the seat that the server does not send again after a reload. */
  keep: (past: string) => void;
  send: (data: string | Uint8Array<ArrayBuffer>) => void;
  /** Reports the player's seat, in the format of the game. */
  seated: (own: string | null) => void;
  /** Reports that scores or the result have changed. */
  changed: () => void;
};

/** A game on its page. */
export type Play = {
  /** Handles a new connection without a seat: joins the game. */
  open: () => void;
  message: (data: string | ArrayBuffer) => void;
  room: (room: Room) => void;
  /** Receives the player's seat from the hub: null if the player has none, and empty while waiting for one. */
  own?: (seat: string | null) => void;
  stop: () => void;
  /** Describes a seat. */
  seat?: (seat: string) => Seat;
  /** The middle of a seat's upper edge on the board in CSS pixels; null if it is not in sight. */
  at?: (seat: string) => { x: number; y: number } | null;
  /** The seats with the best score; empty if there are none. */
  leaders?: () => string[];
  /** Sentences about the match that are not in its journal. */
  tell?: () => Promise<string[]>;
  /** The result of a finished game, from best to worst. */
  result?: () => Row[] | null;
  /** Whether the game shows its results itself. */
  ownResult?: boolean;
  /** The loss of a player who leaves now, in a sentence; null if there is none. */
  stake?: () => string | null;
  /** Joins another game over the same connection. Returns false if a new connection is needed. */
  again?: () => boolean;
  /** Gives up the seat. */
  leave?: () => void;
  /** Keys and gestures. */
  help?: Help;
};

/** Makes the highlights of a match from the marks of its journal and its result: sentences and their times in milliseconds, best first. */
export type Story = (marks: { at: number, kind: string, text: string }[], rows: Row[]) => { at: number, text: string }[];
/** The colour and the score of a seat, and a remark such as the age of the score. */
export type Seat = { colour: string | null; value: string; note?: string };
/** Keys or gestures, and their effects. */
export type Help = [string, string][];
