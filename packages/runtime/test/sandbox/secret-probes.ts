import type { EscapeProbe } from "./escape-probe.ts";

/** Attempts to see files of the workspace that may hold secrets and that git does not track. */
export const SECRET_PROBES: readonly EscapeProbe[] = [
  { kind: "file", name: "read the settings of a project", script: "grep canary .env" },
  { kind: "file", name: "read the settings of a project further down", script: "grep canary services/api/.env.local" },
  { kind: "file", name: "read a key of a project", script: "grep canary services/api/server.pem" },
  { kind: "file", name: "copy the settings of a project", script: 'cp .env "env-$PROBE" && grep canary "env-$PROBE"' },
  { kind: "file", name: "link the settings of a project", script: 'ln .env "env-$PROBE" && grep canary "env-$PROBE"' },
  { kind: "file", name: "read the settings of a project through a link", script: 'ln -s .env "env-$PROBE"; grep canary "env-$PROBE"' },
  {
    kind: "file",
    name: "move the settings of a project",
    script: 'mv .env "env-$PROBE" && grep canary "env-$PROBE" && mv "env-$PROBE" .env',
  },
  {
    kind: "file",
    name: "move the folder of the settings of a project",
    script: 'mv services "services-$PROBE" && grep canary "services-$PROBE/api/.env.local" && mv "services-$PROBE" services',
  },
  { kind: "file", name: "have the settings of a project sourced", script: '. ./.env; [ "$TOKEN" = canary ]' },
  { kind: "file", name: "pack the settings of a project", script: "tar cf - . 2>/dev/null | grep -a TOKEN=canary" },
  {
    kind: "file",
    name: "add the settings of a project to the index",
    script:
      'git init -q "repo-$PROBE" && git --git-dir="repo-$PROBE/.git" --work-tree=. add -f .env && git --git-dir="repo-$PROBE/.git" show :.env | grep canary',
  },
  { kind: "file", name: "write the settings of a project", script: 'cp .env "env-$PROBE"; echo A=1 >> .env && cp "env-$PROBE" .env' },
];
