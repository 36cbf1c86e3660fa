import type { Clock } from "../../platform/clock.ts";
import type { Connected } from "./send-request.ts";

const PATIENCE_MS = 2000;

/** Tells a server over HTTP that its session is over, so that it need not keep it. Nothing depends on whether it hears that. */
export async function endSession({ sdk, client }: Connected, clock: Clock): Promise<void> {
  const { transport } = client;
  if (!(transport instanceof sdk.StreamableHTTPClientTransport) || transport.sessionId === undefined) return;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const disarm = clock.after(PATIENCE_MS, resolve);
  await Promise.race([transport.terminateSession().catch(() => {}), late]);
  disarm();
}
