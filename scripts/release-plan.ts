/** A package of the repository, as far as a release looks at it. */
export interface Released {
  readonly name: string;
  readonly version: string;
  readonly dependencies: readonly string[];
}

/** What keeps a version from being released, each problem with the way out. */
export const problemsOfRelease = (
  version: string,
  packages: readonly Released[],
  changelog: string,
  changed: readonly string[],
): readonly string[] => [
  ...(/^\d+\.\d+\.\d+$/.test(version) ? [] : [`"${version}" is no version: give one as 0.2.0`]),
  ...packages
    .filter((each) => each.version !== version)
    .map(({ name, version: other }) => `${name} has version ${other}: write ${version} into its manifest`),
  ...(titleOf(version).test(changelog) ? [] : [`CHANGELOG.md has no section "## ${version} (unreleased)": write it`]),
  ...changed.map((file) => `${file} is changed: commit it, or take it back`),
];

/** The changelog with the day of the release in the title of its section. */
export const datedChangelog = (changelog: string, version: string, day: string): string =>
  changelog.replace(titleOf(version), `## ${version} (${day})`);

/** A package after all of those that it needs, since what is installed in between has to work. */
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

const titleOf = (version: string): RegExp => new RegExp(`^## ${version.replaceAll(".", "\\.")} \\(unreleased\\)$`, "m");
