/** Where the debug output of a run goes, line by line. */
export interface DebugFile {
  write(line: string): void;
  /** Resolves when all is written; rejects when something could not be. */
  close(): Promise<void>;
}

/** Opens a file to append lines to. Several runs may write to one file. */
export function openDebugFile(path: string): DebugFile {
  // A static import of node:fs would load all of its streams with this package.
  const stream = process.getBuiltinModule("node:fs").createWriteStream(path, { flags: "a" });
  let failure: Error | undefined;
  const closed = new Promise<void>((resolve) => stream.on("close", resolve));
  stream.on("error", (error) => (failure ??= error));
  return {
    write(line) {
      if (failure === undefined) stream.write(line);
    },
    async close() {
      stream.end();
      await closed;
      if (failure !== undefined) throw failure;
    },
  };
}
