export interface Released {
  readonly name: string;
  readonly version: string;
  readonly dependencies: readonly string[];
  /** Whether its manifest names its repository. */
  readonly namesRepository: boolean;
}

/** The facts that a release checks before it does anything. */
export interface ReleaseFacts {
  readonly packages: readonly Released[];
  readonly workspaceVersion: string;
  /** The last committed text. */
  readonly changelog: string;
  /** Files that differ from the last commit, as `git status` names them. */
  readonly changed: readonly string[];
  readonly branch: string | null;
  /** The number of fetched upstream commits that the branch lacks. */
  readonly commitsBehind: number;
  readonly hasRemote: boolean;
  /** The error of git if it does not know the committer. */
  readonly authorProblem: string | null;
  readonly tags: ReadonlyMap<string, string>;
  readonly head: {
    readonly commit: string;
    /** The parent commit; several of a merge, separated by spaces. */
    readonly parents: string;
    readonly message: string;
    /** The files that it changes; empty for a merge and for the first commit. */
    readonly files: readonly string[];
  };
}

/** The stage that an interrupted release reached: nothing is committed, the changelog is, or the tag exists too. */
export type ReleaseStage = "begun" | "committed" | "tagged";

/** Returns the problems that prevent releasing a version, each with its remedy. */
export const problemsOfRelease = (version: string, facts: ReleaseFacts): readonly string[] => {
  const { packages, workspaceVersion, changed, branch, commitsBehind, authorProblem } = facts;
  if (!isVersion(version)) return [`"${version}" is no version: give one as 0.2.0`];
  return [
    ...problemsOfTags(version, facts),
    ...problemsOfVersions(version, [...packages, { name: "the workspace", version: workspaceVersion }]),
    ...problemsOfChangelog(version, facts),
    ...(branch === "main"
      ? []
      : [`${branch === null ? "no branch" : branch} is checked out: releases are made of main; \`git switch main\``]),
    ...(commitsBehind === 0 ? [] : [`main is behind its remote by ${commitsBehind}: \`git pull\``]),
    ...(authorProblem === null
      ? []
      : [
          `git does not know who commits (${authorProblem}): \`git config user.name NAME\`, \`git config user.email ADDRESS\``,
        ]),
    ...changed.map((file) => `${file} is changed: commit it, or take it back`),
  ];
};

/** Returns the problems that arose during a long step: the release would not match the facts that were checked. */
export const problemsSince = (version: string, before: ReleaseFacts, now: ReleaseFacts): readonly string[] => [
  ...(now.head.commit === before.head.commit
    ? []
    : [`the last commit is ${now.head.commit.slice(0, 8)}, and was ${before.head.commit.slice(0, 8)}`]),
  ...problemsOfRelease(version, now),
];

/**
 * Returns the commit message of a release. The next release recognises it by its end.
 * @param gated the commit that passed the gate; null if the gate was left out
 */
export const messageOfRelease = (version: string, gated: string | null): string =>
  `Version ${version}\n\n${releaseTrailer}${version}\n${gateTrailer}${gated === null ? "left out" : `passed at ${gated}`}`;

/** Returns whether the last commit is the release's and its parent passed the gate: no source has changed since. */
export const hasPassedGate = ({ head }: ReleaseFacts): boolean =>
  linesOf(head.message).includes(`${gateTrailer}passed at ${head.parents}`) && head.files.join() === "CHANGELOG.md";

/** Returns the stage that an earlier release of this version reached. Hooks may edit the message, but not its end. */
export const stageOf = (version: string, { changelog, head, tags }: ReleaseFacts): ReleaseStage => {
  const isOurs =
    linesOf(head.message).includes(`${releaseTrailer}${version}`) && dayOf(sectionOf(changelog, version)) !== null;
  if (!isOurs) return "begun";
  return tags.get(`v${version}`) === head.commit ? "tagged" : "committed";
};

/** Returns notes about facts that do not prevent the release, but hide the sources from readers. */
export const notesOfRelease = ({ packages, hasRemote }: ReleaseFacts): readonly string[] => [
  ...(packages.every(({ namesRepository }) => namesRepository)
    ? []
    : [
        "No `repository` in the manifests: npm will warn, show no way to the sources, and take no provenance. Where it is known, write it into each packages/*/package.json, commit, and release after that.",
      ]),
  ...(hasRemote ? [] : ["This clone has no remote: `git remote add origin URL`, before the push."]),
];

/** Returns the changelog with the day of the release in the title of its section. */
export const datedChangelog = (changelog: string, version: string, day: string): string =>
  changelog.replace(titleOf(version), `## ${version} (${day})`);

/** Returns the packages, each after all that it needs, so that installing works at any time. */
export const uploadOrder = (packages: readonly Released[]): readonly string[] => {
  const ordered: string[] = [];
  const visit = ({ name, dependencies }: Released): void => {
    if (ordered.includes(name)) return;
    for (const other of packages) if (dependencies.includes(other.name)) visit(other);
    ordered.push(name);
  };
  for (const each of packages) visit(each);
  return ordered;
};

const releaseTrailer = "Release: ";
const gateTrailer = "Gate: ";

const linesOf = (text: string): readonly string[] => text.split("\n");

const problemsOfVersions = (version: string, all: readonly Pick<Released, "name" | "version">[]): readonly string[] => {
  const others = Map.groupBy(
    all.filter((each) => each.version !== version),
    (each) => each.version,
  );
  return [...others].map(([other, those]) => {
    const names = those.map(({ name }) => name);
    const said = names.length > 4 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} others` : names.join(", ");
    return `${said}: version ${other}; write ${version} into package.json`;
  });
};

const problemsOfTags = (version: string, facts: ReleaseFacts): readonly string[] => {
  const tag = `v${version}`;
  const commit = facts.tags.get(tag);
  if (commit !== undefined) {
    if (stageOf(version, facts) === "tagged") return [];
    return [
      `the tag ${tag} is there, at ${commit.slice(0, 8)}: give the next version; or, if it was never pushed, \`git tag --delete ${tag}\``,
    ];
  }
  const released = [...facts.tags.keys()].map((name) => name.slice(1)).filter(isVersion);
  const higher = released.filter((other) => isHigher(other, version));
  return higher.length === 0 ? [] : [`v${higher[0]} was released, which is higher: give a version above it`];
};

const problemsOfChangelog = (version: string, facts: ReleaseFacts): readonly string[] => {
  const section = sectionOf(facts.changelog, version);
  if (section === null) return [`CHANGELOG.md has no section "## ${version} (unreleased)": write it`];
  const day = dayOf(section);
  if (day !== null)
    return stageOf(version, facts) !== "begun"
      ? []
      : [
          `CHANGELOG.md says that ${version} was released on ${day}, and the last commit is none that a release made: give the next version; or, if it never was, write "## ${version} (unreleased)", and commit`,
        ];
  if (section.rest.trim() === "") return [`CHANGELOG.md says nothing of ${version}: write what a user notices`];
  if (!section.isFirst) return [`CHANGELOG.md has a section above that of ${version}: move it below, or release that`];
  return [];
};

interface Section {
  /** The text in parentheses in its title. */
  readonly remark: string;
  readonly rest: string;
  readonly isFirst: boolean;
}

const sectionOf = (changelog: string, version: string): Section | null => {
  const [, ...sections] = changelog.split(/^## /m);
  for (const [index, section] of sections.entries()) {
    const [, name, remark = ""] = /^(\S+) \(([^)]*)\)$/m.exec(section.split("\n", 1).join()) ?? [];
    if (name === version) return { remark, rest: section.slice(section.indexOf("\n")), isFirst: index === 0 };
  }
  return null;
};

const dayOf = (section: Section | null): string | null =>
  section !== null && /^\d{4}-\d\d-\d\d$/.test(section.remark) ? section.remark : null;

const titleOf = (version: string): RegExp => new RegExp(`^## ${version.replaceAll(".", "\\.")} \\(unreleased\\)$`, "m");

const isVersion = (text: string): boolean => /^\d+\.\d+\.\d+$/.test(text);

const isHigher = (one: string, other: string): boolean => one.localeCompare(other, "en", { numeric: true }) > 0;
