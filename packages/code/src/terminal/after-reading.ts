/** Calls back after some milliseconds. @returns a function that cancels the call */
export type After = (ms: number, done: () => void) => () => void;

/**
 * The clock of this process. Keys that came while the process was busy are read before it calls back: by the time alone, a pause
 * of the process would pass for a pause of the person.
 */
export const afterReading: After = (ms, done) => {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    immediate = setImmediate(done);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
};
