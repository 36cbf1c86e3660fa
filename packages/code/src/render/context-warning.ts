/** The parts of the way to the compaction, and of the window, from which a person is warned. */
const NEAR_COMPACTION = 0.8;
const NEARLY_FULL = 0.85;

/**
 * Makes a function that warns once when the context comes near to its compaction, and once more when it is nearly full. It warns again after the
 * context has become smaller.
 * @param compactAt returns the part of the window from which the conversation is shortened
 */
export function createContextWarning(compactAt: () => number): (utilization: number) => string | undefined {
  let warned: "nothing" | "near" | "full" = "nothing";
  return (utilization) => {
    const percent = `${Math.round(100 * utilization)}%`;
    if (utilization >= NEARLY_FULL) {
      if (warned === "full") return undefined;
      warned = "full";
      return `the context is ${percent} full; /compact [what to keep] shortens the conversation before the next turn`;
    }
    if (utilization < NEAR_COMPACTION * compactAt()) warned = "nothing";
    else if (warned === "nothing") {
      warned = "near";
      return `the context is ${percent} full; from ${Math.round(100 * compactAt())}% on old results and messages are shortened. /compact [what to keep] does it now, as you say`;
    }
    return undefined;
  };
}
