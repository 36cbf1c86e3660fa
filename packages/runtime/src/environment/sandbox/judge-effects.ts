import type { CallEffects, EffectBounds } from "@keelson/protocol";
import { judgeCommands, judgeUnknownCommands } from "./judge-commands.ts";
import { judgeBoundFiles, judgeFiles } from "./judge-files.ts";
import { judgeHosts } from "./judge-hosts.ts";
import type { PolicyPlaces } from "./policy-places.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";
import { checkOptionNames, type OptionNames } from "../../json/option-names.ts";

const SANDBOX_POLICY: OptionNames<SandboxPolicy> = {
  version: true,
  filesystem: true,
  network: true,
  environment: true,
  resources: true,
  commands: true,
};

/**
 * What a sandbox of this policy would refuse of the effects of a call, a sentence each. Judged by what the call says, as text: no file is looked
 * at, so a link under another name is only seen by the sandbox itself. What can't be known is left to it, too, except where only some
 * programs are allowed.
 */
export function judgeEffects(policy: SandboxPolicy, effects: CallEffects, places: PolicyPlaces): readonly string[] {
  checkOptionNames("A sandbox policy", policy, SANDBOX_POLICY);
  const { filesystem = {}, network = { enabled: false }, commands = {} } = policy;
  return [
    ...judgeCommands(commands, effects),
    ...judgeUnknownCommands(commands, effects),
    ...judgeFiles(filesystem, effects, places),
    ...judgeHosts(network, effects),
  ];
}

/** The same of the parts of a policy that bind calls without a sandbox: what they don't say, nobody refuses. */
export function judgeBoundEffects(
  { filesystem, network, commands }: EffectBounds,
  effects: CallEffects,
  places: PolicyPlaces,
): readonly string[] {
  return [
    ...(commands === undefined ? [] : judgeCommands(commands, effects)),
    ...(filesystem === undefined ? [] : judgeBoundFiles(filesystem, effects, places)),
    ...(network === undefined ? [] : judgeHosts(network, effects)),
  ];
}
