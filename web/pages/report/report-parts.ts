import { Link } from 'react-router-dom';
import styled from 'styled-components';
import { PageColumn } from '../../components/page.tsx';
import { colour, space, text } from '../../theme.ts';

export const Frame = styled(PageColumn)`
  h2 {
    font-size: ${text.xl};
  }
  @media print {
    padding: 0;
    /* Avoids a heading at the bottom of a printed page, and prints the thread, which is drawn with backgrounds that
       browsers omit by default. */
    print-color-adjust: exact;
    h2 {
      break-after: avoid;
    }
  }
`;
export const Head = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: end;
  justify-content: space-between;
  gap: ${space(2)};
`;
/* The button is only for the screen: paper shows every figure. */
export const Row = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(1, 2)};
  @media print {
    button {
      display: none;
    }
  }
`;
export const Tools = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)};
  @media print {
    display: none;
  }
`;
export const Save = styled.a`
  display: inline-flex;
  align-items: center;
  gap: ${space(1)};
  min-height: 44px;
  padding: 0 ${space(1)};
  font-weight: 600;
`;
/* Leads on in the application, so paper does without it. */
export const Onward = styled(Link)`
  display: inline-flex;
  align-items: center;
  min-height: 44px;
  font-weight: 600;
  @media print {
    display: none;
  }
`;
export const Quiet = styled.p`
  color: ${colour.inkSoft};
  font-size: ${text.s};
`;
