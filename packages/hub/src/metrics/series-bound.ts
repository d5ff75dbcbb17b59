/** Labels of one series. */
export interface Series extends Record<string, string> {
  action: string;
  tenant: string;
  principal: string;
  status: string;
  error_code: string;
}

/** Where those are counted for whom there is no room. */
export const OTHER = '_other';

/** A tenant with very many principals leaves room for the others. */
const SHARE = 5;

/**
 * Gives each combination of labels its own series while there is room; later ones are counted together as `_other`, so
 * that whoever scrapes the hub pays for a bounded number, whoever calls it.
 */
export function createSeriesBound(maxSeries: number): (series: Series) => Series {
  const known = new Set<string>();
  const countsByTenant = new Map<string, number>();
  return (series) => {
    const { tenant } = series;
    const key = JSON.stringify(Object.values(series));
    if (known.has(key)) return series;
    const count = countsByTenant.get(tenant) ?? 0;
    if (known.size >= maxSeries) return { ...series, tenant: OTHER, principal: OTHER };
    if (count >= maxSeries / SHARE) return { ...series, principal: OTHER };
    known.add(key);
    countsByTenant.set(tenant, count + 1);
    return series;
  };
}
