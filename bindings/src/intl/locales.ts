/** Which locale of ours is meant by a list of tags, and which of ICU's we lack. */

/** Of ICU: a tag of our languages → the tag that has its data in FormatJS. */
declare const LOCALES: Record<string, string>;
/** The languages of ICU. */
declare const LANGUAGES: string;

export interface Resolved {
  /** As ICU names it. */
  locale: string;
  /** The tag that has its data. */
  data: string;
  /** `-u-...` of the tag that was asked for, or nothing. */
  extension: string;
}

const languages = new Set(LANGUAGES.split(" "));
const ours = [...new Set(Object.keys(LOCALES).map((tag) => tag.slice(0, 2)))].join(", ");
const withoutExtensions = (tag: string): string => tag.replace(/-[a-z0-9]-.*$/, "");

/** The longest beginning of a tag that is a locale of ours. */
function match(tag: string): string | undefined {
  for (let text = withoutExtensions(tag); text; text = text.slice(0, Math.max(0, text.lastIndexOf("-")))) {
    if (Object.hasOwn(LOCALES, text)) return text;
  }
  return undefined;
}

const known = (tag: string): boolean => languages.has(tag.split("-")[0]);

/** The first that ICU has; `en-US` when it has none. Throws when that is not one of ours. */
export function resolve(tags: string[]): Resolved {
  for (const tag of tags) {
    const locale = match(tag);
    if (locale) return { locale, data: LOCALES[locale], extension: /-u(-[a-z0-9]{2,8})+/.exec(tag)?.[0] ?? "" };
    if (known(tag)) {
      const error = new Error(`The locale ${tag} is not available here: Intl has the languages ${ours}. Use one of these in tests, or put the formatting behind a function that the test mocks`);
      throw error;
    }
  }
  return { locale: "en-US", data: LOCALES["en-US"], extension: "" };
}

/** Those that ICU has. */
export const supported = (tags: string[]): string[] => tags.filter((tag) => match(tag) !== undefined || known(tag));
