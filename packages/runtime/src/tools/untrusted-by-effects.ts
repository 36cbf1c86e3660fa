import type { TextOrigin } from "@keelson/protocol";

/**
 * For the `untrusted` of a tool that says in `effectsOf` what it does: what comes from hosts and what is read outside of the working directory
 * is untrusted, the rest is not. Names of this machine are no hosts of somebody else.
 */
export function untrustedByEffects(_input: unknown, { effects, outside }: TextOrigin): string | undefined {
  const hosts = effects?.hosts?.filter((host) => !LOOPBACK.test(host)) ?? [];
  const files = outside.filter((path) => !path.startsWith("/dev/"));
  const sources = [...hosts, ...files];
  return sources.length === 0 ? undefined : sources.slice(0, MAX_NAMED).join(", ");
}

const MAX_NAMED = 3;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)\.?$/i;
