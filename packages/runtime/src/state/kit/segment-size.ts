/** A segment ends behind so many records or so much text, whichever comes first: who reads one of them reads it whole. */
const MOST_RECORDS = 512;
const MOST_TEXT = 1024 * 1024;
/** Less is left as it is: one small segment after another would not take less space than their records. */
const FEWEST_RECORDS = 32;
const LEAST_TEXT = 16 * 1024;

/** How much a segment has taken, and what fits into it. */
export class SegmentSize {
  records = 0;
  #text = 0;

  add(records: number, textLength: number): void {
    this.records += records;
    this.#text += textLength;
  }

  /** Whether it is enough for a segment. */
  get isEnough(): boolean {
    return this.records >= FEWEST_RECORDS || this.#text >= LEAST_TEXT;
  }

  /** Whether so much more goes into it. What is too little takes whatever comes. */
  hasRoomFor(records: number, textLength: number): boolean {
    return !this.isEnough || (this.records + records <= MOST_RECORDS && this.#text + textLength <= MOST_TEXT);
  }
}
