import { EnvironmentError, type Environment, type EnvironmentSpec, type Operator, type ToolEnvironment } from "@keelson/protocol";
import { atEnvironmentBoundary } from "./at-environment-boundary.ts";
import { checkProvided } from "./check-provided.ts";
import { checkOptionNames } from "../../json/option-names.ts";

const NAME = "The local environment";

/**
 * Runs an operator in this process, and gives the tools of runs these files and programs, without boundaries. A spec that asks for any, for
 * limits or for credentials is refused with EnvironmentError `provision-failed`.
 */
export function createLocalEnvironment(operator: Operator | undefined, given: ToolEnvironment = {}): Environment {
  checkOptionNames("createLocalEnvironment", given, { files: true, exec: true });
  const { files, exec } = given;
  return {
    async run(input, spec, context) {
      checkNothing(spec);
      if (operator === undefined) throw lacks("an operator to run");
      try {
        return await operator.execute(input, context);
      } catch (error) {
        throw atEnvironmentBoundary(error);
      }
    },

    async open(spec) {
      checkNothing(spec);
      if (files === undefined && exec === undefined) throw lacks("files or programs for tools");
      return { ...(files && { files }), ...(exec && { exec }), async [Symbol.asyncDispose]() {} };
    },
  };
}

function checkNothing(spec: EnvironmentSpec): void {
  checkProvided(spec, { name: NAME, boundaries: [], resources: [], injections: [], hasNetworkRules: false, hasSandboxes: false });
}

function lacks(what: string): EnvironmentError {
  return new EnvironmentError({
    kind: "provision-failed",
    message: `${NAME} was made without ${what}: give it to createLocalEnvironment.`,
  });
}
