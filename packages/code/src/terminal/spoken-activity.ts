const SPINNER = /^[^\p{L}\p{N}]+/u;
const FIGURES = / · .*$/;
const DURATION = /(?: (?:\d+(?:\.\d+)? (?:ms|s|m|h)))+$/;

/** Returns the activity that a status line names, without its spinner, its figures and the time that it has taken. */
export function spokenActivity(status: string): string {
  return status.replace(SPINNER, "").replace(FIGURES, "").replace(DURATION, "").trim();
}
