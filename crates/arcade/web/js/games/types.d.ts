// What a game gives to the page, and what the hub tells of rooms, players and matches.

export type Player = {
  name: string;
  seat: string;
  proven?: boolean;
  bot?: boolean;
  /** Whether it owns the room, and has its page open. */
  owner?: boolean;
};
export type Row = Player & { rank: number; score: number; left?: boolean };
/** A room as the hub tells of it. */
export type Room = {
  id: string;
  game: string;
  title: string;
  phase: string;
  taken: number;
  seats: number;
  /** For native clients; 0 to those who have not shown that they may enter. */
  port: number;
  /** Where native clients reach it, in an arcade of several hubs. */
  host?: string;
  players: Player[];
  /** Of all players, where not all are named. */
  count?: number;
  result?: Row[] | null;
  watchers?: number;
  permanent?: boolean;
  /** The board that its matches are for, whether they count there, and why they do not. */
  class?: string;
  rated?: boolean;
  casual?: string;
  /** What its owner calls it. */
  name?: string | null;
  /** Who may enter. */
  visibility?: 'public' | 'link' | 'word';
  /** The code of its link, for those who are inside. */
  code?: string;
  /** Whether somebody owns it. */
  owned?: boolean;
  /** Whether it takes no new players. */
  locked?: boolean;
  match?: string | null;
  options?: Record<string, unknown>;
  /** The scores so far by seat, where the wire does not tell them to everybody. */
  scores?: Record<string, number>;
  /** Of each table of blackjack: the dealer's hand of the round that was over last, the hole card first. */
  dealers?: { table: number, round: number, cards: string[] }[];
  /** Whether so much of the match is decided that a newcomer can hardly win it. */
  late?: boolean;
  /** In how many seconds bots come, as of when that was decided. */
  bots_in?: number | null;
  /** Why the room is closed, if it is. */
  closing?: string | null;
};
export type Match = { id: string; game: string; title: string; room: string; started: string; seconds: number; players: Row[]; count?: number; class?: string; rated?: boolean; casual?: string };
/** What is known of a player on a board: a rating, or in games that are played alone a mean. */
export type Standing = { rating: number | null; uncertainty: number | null; mean: number | null; provisional: boolean; matches: number; wins: number };
export type Leader = Standing & { rank: number; name: string; proven?: boolean; bot?: boolean };

/** What the lobby shows. */
export type Lobby = {
  rooms: Room[];
  /** Which rooms these are. */
  look?: { game: string | null; text: string; from: number; count: number };
  /** How many there are. */
  total?: number;
  recent?: Match[];
  leaders?: Record<string, Leader[]>;
  /** Whether the rooms of other hubs may be others by now. */
  unsure?: boolean;
};

/** Ends a page that is shown. */
export type Leave = () => void;
/** A page of a game besides its rooms: its address, and the module that shows it from what the hub told first. */
export type Page = [RegExp, () => Promise<{ showPage: (main: HTMLElement, first: Lobby) => Leave }>];

/** A game: what `index.js` of its folder says. */
export type Game = {
  /** Its name in addresses. */
  name: string;
  title: string;
  /** One sentence: what it is about. */
  line: string;
  /** A score of a result in words. */
  score: (score: number) => string;
  /** The command that joins a room from a terminal, which begins with the name of its program. `bare` is the host without the brackets of an IPv6 address; `directory` is empty, or a space and the option that tells where to ask for a room that moves. */
  command: (room: { host: string; bare: string; port: number; directory: string }) => string;
  /** Whether the hub has bots for it. */
  bots: boolean;
  /** Whether each in the room plays a game of their own, so that there are always seats. */
  isAlone: (room: Room) => boolean;
  /** A small picture of a room. */
  picture: () => Picture;
  /** The page of its rooms. */
  load: () => Promise<{ play: Start, story?: Story }>;
  pages: Page[];
};

/** What the hub tells of a room for a picture, by name; see `picture.rs` of each game. */
export type Parts = Record<string, unknown>;

/** A small picture of a room. */
export type Picture = {
  /** Draws what the hub tells of the room; an example without that, since nobody is there. */
  draw: (context: CanvasRenderingContext2D, width: number, height: number, parts: Parts | null) => void;
};

/** Begins a game on its page. */
export type Start = (stage: Stage) => Play;

/** The elements and callbacks that the page of a game receives. */
export type Stage = {
  /** Where the board goes. */
  board: HTMLElement;
  /** What belongs below the board: lines of text, a bar. */
  below: HTMLElement;
  /** Where the buttons go with which one plays; they are always in sight. */
  controls: HTMLElement;
  /** Where other buttons go. */
  more: HTMLElement;
  /** Speaks what has changed. */
  live: HTMLElement;
  /** Whether the messages are those for watchers. */
  watching: boolean;
  /** Whether there is somebody to play: not for watchers, nor in a replay. */
  playable: boolean;
  /** Whether it is a replay, after whose end nothing comes. */
  film: boolean;
  /** Whether nobody has yet played a match of the game here, and help is welcome. */
  first: boolean;
  /** The player's name. */
  name: string;
  /** What was last given to `keep` at that seat. */
  past: string | null;
  /** Keeps what happened at the seat and is not told again after a reload. */
  keep: (past: string) => void;
  send: (data: string | Uint8Array<ArrayBuffer>) => void;
  /** Says which seat is one's own, in the game's own words. */
  seated: (own: string | null) => void;
  /** Says that scores or the result have changed. */
  changed: () => void;
};

/** A game on its page. */
export type Play = {
  /** A new connection is there: join, unless the seat is kept. */
  open: () => void;
  message: (data: string | ArrayBuffer) => void;
  room: (room: Room) => void;
  /** The hub says which of the players one is oneself: null while one is not among them, and empty while one waits for a seat. */
  own?: (seat: string | null) => void;
  stop: () => void;
  /** What is known of a seat. */
  seat?: (seat: string) => Seat;
  /** The seats that are in front now; none while nobody is. */
  leaders?: () => string[];
  /** What the page can tell of the match beyond its journal, in sentences. */
  tell?: () => Promise<string[]>;
  /** The result of the game that is over, from best to worst. */
  result?: () => Row[] | null;
  /** Whether the game shows results itself. */
  ownResult?: boolean;
  /** What a player loses who leaves now, in a sentence; null if that is nothing. */
  stake?: () => string | null;
  /** Joins another game in the same connection; false if it takes a new one. */
  again?: () => boolean;
  /** Gives up the seat. */
  leave?: () => void;
  /** Keys and gestures. */
  help?: Help;
};

/** What happened in a match, by the marks of its journal: sentences and their moments in milliseconds, the best first. */
export type Story = (marks: { at: number, kind: string, text: string }[]) => { at: number, text: string }[];
/** What a game knows of a seat. */
export type Seat = { colour: string | null; value: string };
/** Keys or gestures, and what they do. */
export type Help = [string, string][];
