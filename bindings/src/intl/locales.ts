/** Chooses one of our locales for a list of tags. Refuses tags of languages that ICU has and we do not. */

/** ICU's tag of one of our locales → the tag under which FormatJS has its data. */
declare const LOCALES: Record<string, string>;
/** The codes of all languages of ICU, separated by spaces. */
declare const LANGUAGES: string;

export interface Resolved {
  /** ICU's tag of the locale. */
  locale: string;
  /** The tag under which FormatJS has its data. */
  data: string;
  /** The extension `-u-...` of the requested tag, or an empty text. */
  extension: string;
}

const languages = new Set(LANGUAGES.split(" "));
const ours = [...new Set(Object.keys(LOCALES).map((tag) => tag.slice(0, 2)))].join(", ");
const withoutExtensions = (tag: string): string => tag.replace(/-[a-z0-9]-.*$/, "");

/** The longest prefix of a tag that is one of our locales. */
function match(tag: string): string | undefined {
  for (let text = withoutExtensions(tag); text; text = text.slice(0, Math.max(0, text.lastIndexOf("-")))) {
    if (Object.hasOwn(LOCALES, text)) return text;
  }
  return undefined;
}

const known = (tag: string): boolean => languages.has(tag.split("-")[0]);

/** The first locale that ICU has, or `en-US` if it has none of them. Throws an Error if we do not have that locale. */
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

/** Those of the tags that ICU supports. */
export const supported = (tags: string[]): string[] => tags.filter((tag) => match(tag) !== undefined || known(tag));
