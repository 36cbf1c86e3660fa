/** What an interrupt can do to a run. */
export interface Stoppable {
  stop(): unknown;
  interrupt(): unknown;
  abort(reason?: string): unknown;
}

export interface Signals {
  on(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  off(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
}

export interface InterruptOptions {
  readonly signals: Signals;
  /** Tells the person what the interrupt did. */
  note(text: string): void;
  /** After a third one: the run does not even abort. */
  giveUp(): void;
  /** Whether calls run that a stop leaves to their end; a response ends at once, which needs no words. */
  finishing(): boolean;
  /** Receives why an interrupt was not accepted. Default: the note says it. */
  failed?(error: unknown): void;
}

/** The keys that end a run. */
export interface InterruptKeys {
  /** The first stops gracefully, the second aborts, the third ends the process. */
  ctrlC(): void;
  /** The first ends what runs as well, also after a Ctrl-C; the second aborts. */
  escape(): void;
}

/** Counts interrupts from all places that they come from. */
export function createInterrupt(run: Stoppable, { note, giveUp, finishing, failed }: Omit<InterruptOptions, "signals">): InterruptKeys {
  let stage: "working" | "stopping" | "interrupting" | "aborting" = "working";
  const attempt = (accepted: unknown): void =>
    failed === undefined ? reportRejection(accepted, note) : void Promise.resolve(accepted).catch(failed);
  const abort = (): void => {
    stage = "aborting";
    note("aborting");
    attempt(run.abort("interrupted twice"));
  };
  return {
    ctrlC() {
      if (stage === "aborting") return giveUp();
      if (stage !== "working") return abort();
      stage = "stopping";
      if (finishing()) note("stopping after this step; Esc ends it, Ctrl-C again aborts it");
      attempt(run.stop());
    },
    escape() {
      if (stage === "aborting") return;
      if (stage === "interrupting") return abort();
      stage = "interrupting";
      attempt(run.interrupt());
    },
  };
}

/** Ctrl-C stops, twice aborts; a request to terminate aborts at once. Disposing gives the signals back. */
export function handleInterrupts(run: Stoppable, { signals, ...options }: InterruptOptions): Disposable {
  const { ctrlC: onInterrupt } = createInterrupt(run, options);
  const onTerminate = (): void => {
    options.note("aborting: the process was asked to end");
    reportRejection(run.abort("terminated"), options.note);
  };
  signals.on("SIGINT", onInterrupt);
  signals.on("SIGTERM", onTerminate);
  return {
    [Symbol.dispose]() {
      signals.off("SIGINT", onInterrupt);
      signals.off("SIGTERM", onTerminate);
    },
  };
}

export function reportRejection(accepted: unknown, note: (text: string) => void): void {
  Promise.resolve(accepted).catch((error: unknown) => note(`that failed: ${error instanceof Error ? error.message : String(error)}`));
}
