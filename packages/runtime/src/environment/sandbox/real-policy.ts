import { policyPath } from "./policy-path.ts";
import { realPathOf } from "./real-path.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";

/** The same policy with all its roots and denied paths absolute and links resolved, so that it can be held against others. */
export async function realPolicy(policy: SandboxPolicy, workspace: string): Promise<SandboxPolicy> {
  const { filesystem = {} } = policy;
  const real = (paths: readonly string[]): Promise<readonly string[]> =>
    Promise.all(paths.map((path) => realPathOf(policyPath(path, workspace))));
  const { writableRoots = ["."], readableRoots, deniedPaths = [] } = filesystem;
  return {
    ...policy,
    filesystem: {
      ...filesystem,
      writableRoots: await real(writableRoots),
      ...(readableRoots !== undefined && { readableRoots: await real(readableRoots) }),
      // As it is written, too: a link in its place could be turned elsewhere.
      deniedPaths: [...new Set([...deniedPaths.map((path) => policyPath(path, workspace)), ...(await real(deniedPaths))])],
    },
  };
}
