/** What only a request of high risk needs: it comes with the first of them. */
export { HoldButton } from './hold-button.tsx';
export { RiskLine } from './risk-line.tsx';
