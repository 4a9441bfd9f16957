/** Defines the global `Intl` that modules of FormatJS use. Import this before them. */

import { getCanonicalLocales } from "@formatjs/intl-getcanonicallocales";
import { Locale } from "@formatjs/intl-locale";
import { NumberFormat } from "@formatjs/intl-numberformat";
import { PluralRules } from "@formatjs/intl-pluralrules";

(globalThis as { Intl: unknown }).Intl = { getCanonicalLocales, Locale, NumberFormat, PluralRules };
