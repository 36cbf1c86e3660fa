import { exactMessages } from "../exact-message.ts";

/** As the platform's `fetch` is called. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface FetchBounds {
  readonly maxMessageBytes: number;
  /** Told when an event stream is over that held no answer, however that came. One that asks the client for more is an answer, too. `isResumable`: its events had ids, by which it can be asked for again. */
  readonly onStreamEnd?: (isResumable: boolean) => void;
}

// Of an answer in pieces, with all that is told before it. A stream on which a server tells of changes has no end.
const MAX_ANSWER_MESSAGES = 4;
const NEWLINE = 10;
const RETURN = 13;

/**
 * The same `fetch`, whose messages keep the digits of integers ({@link exactMessages}), and whose bodies fail where a message is larger: a body, or what is between two empty lines of an event stream. So do streams that
 * answer a request and tell more than a few of the largest messages could.
 */
export function boundedFetch(fetch: Fetch, { maxMessageBytes, onStreamEnd }: FetchBounds): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    const { body, status, statusText, headers } = response;
    if (body === null || status < 200 || status > 299) return response;
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    const events = createEventCounter();
    const answers = createAnswerFinder();
    const reader = body.getReader();
    const maxAnswerBytes = init?.method === "POST" ? MAX_ANSWER_MESSAGES * maxMessageBytes : Number.POSITIVE_INFINITY;
    let size = 0;
    let total = 0;
    const ended = (): void => {
      if (isStream && !answers.found) onStreamEnd?.(events.haveIds);
    };
    const bounded = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            controller.close();
            ended();
            return;
          }
          size = isStream ? events.add(value) : size + value.byteLength;
          total += value.byteLength;
          if (isStream) answers.add(value);
          if (size > maxMessageBytes)
            throw new RangeError(`The server sent a message of more than ${maxMessageBytes} bytes (\`maxMessageBytes\`).`);
          if (total > maxAnswerBytes)
            throw new RangeError(`The server sent more than ${maxAnswerBytes} bytes before an answer (four times \`maxMessageBytes\`).`);
          controller.enqueue(value);
        } catch (error) {
          controller.error(error);
          await reader.cancel(error).catch(() => {});
          ended();
        }
      },
      async cancel(reason) {
        await reader.cancel(reason);
      },
    });
    return new Response(bounded.pipeThrough(exactMessages(isStream)), { status, statusText, headers });
  };
}

/** Counts the bytes of the event that a stream is in. */
function createEventCounter(): { add(chunk: Uint8Array): number; readonly haveIds: boolean } {
  let size = 0;
  let column = 0;
  let start = "";
  let haveIds = false;
  return {
    get haveIds() {
      return haveIds;
    },
    add(chunk) {
      for (const byte of chunk) {
        size++;
        if (byte === NEWLINE) {
          // An empty line ends an event.
          if (column === 0) size = 0;
          column = 0;
          start = "";
        } else if (byte !== RETURN) {
          if (column++ < 3 && (start += String.fromCharCode(byte)) === "id:") haveIds = true;
        }
      }
      return size;
    },
  };
}

/** Within texts quotes have a backslash before them, so this is the member of a message. */
const ANSWER = /(?<!\\)"(?:result|error)"\s*:/;
const LONGEST_MATCH = 32;

/** Looks for the answer to a request among the messages of a stream, whatever pieces they come in. */
function createAnswerFinder(): { add(chunk: Uint8Array): void; readonly found: boolean } {
  const decoder = new TextDecoder();
  let end = "";
  let found = false;
  return {
    get found() {
      return found;
    },
    add(chunk) {
      if (found) return;
      const text = end + decoder.decode(chunk, { stream: true });
      found = ANSWER.test(text);
      end = text.slice(-LONGEST_MATCH);
    },
  };
}
