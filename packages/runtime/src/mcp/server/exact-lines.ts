import { Transform } from "node:stream";
import { exactMessage } from "../exact-message.ts";

const NEWLINE = 10;

/**
 * Rewrites lines by {@link exactMessage}, each as soon as it is whole. A line that has no end is dropped.
 * @param maxLineBytes a longer line destroys the stream with a `RangeError`
 */
export function exactLines(maxLineBytes: number): Transform {
  let open: Buffer[] = [];
  let length = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
        const piece = chunk.subarray(from, end + 1);
        from = end + 1;
        if (length + piece.length > maxLineBytes) return done(tooLong(maxLineBytes));
        const line = open.length === 0 ? piece : Buffer.concat([...open, piece]);
        open = [];
        length = 0;
        this.push(exactLine(line));
      }
      if (from < chunk.length) {
        length += chunk.length - from;
        if (length > maxLineBytes) return done(tooLong(maxLineBytes));
        open.push(chunk.subarray(from));
      }
      done();
    },
  });
}

function exactLine(line: Buffer): Buffer {
  const text = line.toString("utf8");
  const exact = exactMessage(text);
  return exact === text ? line : Buffer.from(exact);
}

function tooLong(maxLineBytes: number): RangeError {
  return new RangeError(`A client sent a message of more than ${maxLineBytes} bytes (\`maxMessageBytes\`), so the connection was closed.`);
}
