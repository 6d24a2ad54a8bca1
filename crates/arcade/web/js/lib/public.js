// The address for other people: the host may have opened this page at localhost.

import { request } from './api.js';
import { PUBLIC } from './route.js';

let base = PUBLIC?.href.replace(/\/$/, '') ?? location.origin;
/** @type {Promise<string> | null} */
let pending = null;

/** Fetches the address. Without an answer it remains that of this page. */
export const fetchPublicAddress = () =>
  (pending ??= request('/api/address').then(
    ({ url }) => (base = url ? url.replace(/\/$/, '') : base),
    () => base,
  ));

/** @param {string} path */
export const publicAddress = (path) => base + path;
