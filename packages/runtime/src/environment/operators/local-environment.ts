import type { Environment, Operator } from "@keelson/protocol";
import { atEnvironmentBoundary } from "./at-environment-boundary.ts";
import { checkProvided } from "./check-provided.ts";

/**
 * Runs an operator in this process, without boundaries. A spec that asks for any, for limits or for credentials is refused with
 * EnvironmentError `provision-failed`.
 */
export function createLocalEnvironment(operator: Operator): Environment {
  return {
    async run(input, spec, context) {
      checkProvided(spec, {
        name: "The local environment",
        boundaries: [],
        resources: [],
        injections: [],
        hasNetworkRules: false,
        hasSandboxes: false,
      });
      try {
        return await operator.execute(input, context);
      } catch (error) {
        throw atEnvironmentBoundary(error);
      }
    },
  };
}
