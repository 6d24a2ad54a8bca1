// Types of the texts: their keys, and the values of each.

import type { texts } from '../../text/en.js';
import type { FOLDERS } from '../games/list.js';

type Folder = (typeof FOLDERS)[keyof typeof FOLDERS];
/** The intersection of the types of a union. */
type Together<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void ? All : never;

export type Texts = typeof texts & Together<Awaited<ReturnType<Folder['texts']['en']>>['texts']>;
/** A key of a text in en.js. */
export type Key = keyof Texts;

/** A text with a form for each plural of a language. */
export type Forms = { one: string; few?: string; many?: string; other?: string };
/** The same keys in another language. */
export type Translated<Some> = Record<keyof Some, string | Forms>;
export type Translation = Translated<Texts>;
/** Translations of the hub's sentences, by the English ones. */
export type Sentences = Record<string, string | Forms>;

/** The names in braces of a text. */
type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type Named<Entry> = Entry extends string ? Names<Entry> : Names<Entry[keyof Entry]>;
type Plural<Entry> = Entry extends string ? unknown : { count: number };
type Values<Entry, Value> = Record<Exclude<Named<Entry>, 'count'>, Value> &
  (Entry extends string ? ('count' extends Named<Entry> ? { count: Value } : unknown) : unknown) &
  Plural<Entry>;

/** The arguments of `say` after the key. */
export type Given<K extends Key, Value> = [Named<Texts[K]>] extends [never]
  ? Texts[K] extends string
    ? []
    : [values: { count: number }]
  : [values: Values<Texts[K], Value>];
