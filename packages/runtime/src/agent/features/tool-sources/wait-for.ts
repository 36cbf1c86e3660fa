import type { Execution } from "../../../session/execution.ts";

/** Waits until something is over, however it ended, so many ms at most, and not once the run is aborted or asked to stop. */
export async function waitFor(
  { clock, signal, stopping }: Pick<Execution, "clock" | "signal" | "stopping">,
  done: Promise<unknown>,
  ms: number,
): Promise<void> {
  if (ms <= 0 || signal.aborted || stopping.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener("abort", end);
      stopping.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener("abort", end, { once: true });
    stopping.addEventListener("abort", end, { once: true });
    done.then(end, end);
  });
}
