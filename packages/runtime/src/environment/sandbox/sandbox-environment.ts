import type { SandboxPolicy } from "./sandbox-policy.ts";
import { createCommandEnvironment } from "../execution/command-environment.ts";

/** Where the proxy is, within the sandbox's own network. */
export const PROXY_PORT = 3128;

/** The whole environment of a command: what the policy passes on and sets, and where the network is. */
export function sandboxEnvironment(
  { environment = {}, network }: SandboxPolicy,
  inherited: { readonly [name: string]: string | undefined },
): { readonly [name: string]: string } {
  const { variables } = createCommandEnvironment(inherited, { pass: environment.pass, sandbox: true });
  return { ...variables, TMPDIR: "/tmp", ...(network?.enabled === true && proxyVariables()), ...environment.set };
}

/** Whether the shell that begins in a sandbox may have it: it must load nothing and run nothing that the command could have written. */
export function isSafeAtStart(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !/^(LD_.*|GLIBC_TUNABLES|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|IFS)$/.test(name);
}

function proxyVariables(): { readonly [name: string]: string } {
  const address = `http://127.0.0.1:${PROXY_PORT}`;
  const none = "localhost,127.0.0.1,::1";
  return {
    HTTP_PROXY: address,
    http_proxy: address,
    HTTPS_PROXY: address,
    https_proxy: address,
    NO_PROXY: none,
    no_proxy: none,
    // Node's own client looks at these variables only when told to.
    NODE_USE_ENV_PROXY: "1",
  };
}
