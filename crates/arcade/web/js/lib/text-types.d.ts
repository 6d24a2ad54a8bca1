// What is known of the texts of the page before it runs: their keys, and the values that each of them has to be given.

import type { texts } from '../../text/en.js';
import type { FOLDERS } from '../games/list.js';

type Folder = (typeof FOLDERS)[keyof typeof FOLDERS];
/** All types of a union at the same time. */
type Together<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void ? All : never;

/** The texts of the page and of its games. */
export type Texts = typeof texts & Together<Awaited<ReturnType<Folder['texts']['en']>>['texts']>;
/** A key of a text. Those of en.js count. */
export type Key = keyof Texts;

/** A text with a form for each plural of a language. */
export type Forms = { one: string; few?: string; many?: string; other?: string };
/** Texts with the same keys in another language. */
export type Translated<Some> = Record<keyof Some, string | Forms>;
/** All texts in another language. */
export type Translation = Translated<Texts>;
/** Sentences of the hub in another language, by the English ones. */
export type Sentences = Record<string, string | Forms>;

/** The names in braces of a text. */
type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type Named<Entry> = Entry extends string ? Names<Entry> : Names<Entry[keyof Entry]>;
type Plural<Entry> = Entry extends string ? unknown : { count: number };
type Values<Entry, Value> = Record<Exclude<Named<Entry>, 'count'>, Value> &
  (Entry extends string ? ('count' extends Named<Entry> ? { count: Value } : unknown) : unknown) &
  Plural<Entry>;

/** What follows a key: the values of its text, if it has any. */
export type Given<K extends Key, Value> = [Named<Texts[K]>] extends [never]
  ? Texts[K] extends string
    ? []
    : [values: { count: number }]
  : [values: Values<Texts[K], Value>];
