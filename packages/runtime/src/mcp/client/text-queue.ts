/** Pieces of text that one side adds and the other takes, in their order. */
export interface TextQueue extends AsyncIterable<string> {
  /** @returns false where it is full, or nobody takes anything any more: nothing was added */
  push(text: string): boolean;
  /** Nothing comes after what is in it. */
  end(): void;
}

/**
 * @param maxLength characters that may wait in it
 * @param onAbandoned called where the other side takes no more before the end
 */
export function createTextQueue(maxLength: number, onAbandoned: () => void): TextQueue {
  const waiting: string[] = [];
  let length = 0;
  let isEnded = false;
  let wake = (): void => {};
  return {
    push(text) {
      if (isEnded || (length > 0 && length + text.length > maxLength)) return false;
      waiting.push(text);
      length += text.length;
      wake();
      return true;
    },
    end() {
      isEnded = true;
      wake();
    },
    [Symbol.asyncIterator]: () => ({
      async next() {
        for (;;) {
          const text = waiting.shift();
          if (text !== undefined) {
            length -= text.length;
            return { done: false, value: text };
          }
          if (isEnded) return { done: true, value: undefined };
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      },
      // Not a generator's: that would wait for a `next` that nothing ends.
      async return() {
        waiting.length = 0;
        length = 0;
        const isEarly = !isEnded;
        isEnded = true;
        wake();
        if (isEarly) onAbandoned();
        return { done: true, value: undefined };
      },
    }),
  };
}
