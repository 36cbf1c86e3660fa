/** Suspends this process as Ctrl-Z does in a shell. Resolves when it continues. */
export async function suspendProcess(): Promise<void> {
  // Windows cannot suspend a process.
  if (process.platform === "win32") return;
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once("SIGCONT", () => resolve());
  // The listener alone does not keep the process alive until the signal stops it.
  const timer = setInterval(() => {}, 1_000);
  try {
    process.kill(process.pid, "SIGTSTP");
    await promise;
  } finally {
    clearInterval(timer);
  }
}
