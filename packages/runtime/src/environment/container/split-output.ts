const HEADER_BYTES = 8;
const STDERR = 2;

export interface OutputListener {
  onStdout(bytes: Buffer): void;
  onStderr(bytes: Buffer): void;
}

/** Takes pieces of the stream of a container without a terminal: frames of a kind (1 stdout, 2 stderr), three zeros, a length, and so many bytes. */
export function splitOutput({ onStdout, onStderr }: OutputListener): (piece: Buffer) => void {
  let header = Buffer.alloc(0);
  let left = 0;
  let isError = false;
  return (piece) => {
    let rest = piece;
    while (rest.byteLength > 0) {
      if (left === 0) {
        const taken = rest.subarray(0, HEADER_BYTES - header.byteLength);
        header = Buffer.concat([header, taken]);
        rest = rest.subarray(taken.byteLength);
        if (header.byteLength < HEADER_BYTES) return;
        isError = header[0] === STDERR;
        left = header.readUInt32BE(4);
        header = Buffer.alloc(0);
        continue;
      }
      const bytes = rest.subarray(0, left);
      left -= bytes.byteLength;
      rest = rest.subarray(bytes.byteLength);
      (isError ? onStderr : onStdout)(bytes);
    }
  };
}
