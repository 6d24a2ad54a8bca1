// Big-endian numbers, strings and lists within bounds.

/** Thrown by {@link Reader}. */
export class DecodeError extends Error {}

export class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  /** Remaining bytes. */
  get left() {
    return this.view.byteLength - this.at;
  }

  /** @param {number} length */
  take(length) {
    if (this.left < length) throw new DecodeError(`the message ends ${length - this.left} bytes early`);
    this.at += length;
    return this.at - length;
  }

  u8() {
    return this.view.getUint8(this.take(1));
  }

  u16() {
    return this.view.getUint16(this.take(2));
  }

  u32() {
    return this.view.getUint32(this.take(4));
  }

  /** A string: its length in bytes as a u8, then UTF-8. */
  string() {
    const length = this.u8();
    const start = this.view.byteOffset + this.take(length);
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
        new Uint8Array(this.view.buffer, start, length),
      );
    } catch {
      throw new DecodeError('a string is not UTF-8');
    }
  }

  /**
   * The number of items as a u32, then the items. The peer chooses the number, so it is checked against the remaining
   * bytes and no memory is reserved for it.
   * @template T
   * @param {number} smallest Bytes of the smallest item.
   * @param {() => T} item
   * @returns {T[]}
   */
  list(smallest, item) {
    const count = this.u32();
    if (count * smallest > this.left) throw new DecodeError(`${count} items do not fit ${this.left} bytes`);
    const items = [];
    for (let read = 0; read < count; read += 1) items.push(item());
    return items;
  }

  end() {
    if (this.left > 0) throw new DecodeError(`${this.left} bytes follow the message`);
  }
}

export class Writer {
  constructor() {
    /** @type {number[]} */
    this.bytes = [];
  }

  /** @param {number} value */
  u8(value) {
    this.bytes.push(value & 0xff);
    return this;
  }

  /** @param {string} text Cut to 255 bytes, between two characters. */
  string(text) {
    const bytes = new Uint8Array(255);
    const { written } = new TextEncoder().encodeInto(text, bytes);
    this.bytes.push(written, ...bytes.subarray(0, written));
    return this;
  }

  finish() {
    return new Uint8Array(this.bytes);
  }
}
