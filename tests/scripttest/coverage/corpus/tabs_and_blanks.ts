	export	const	tab	=	1	;


	if	(	tab	)	{	tab	;	}
export const   wide   =   tab   ?   1
   :   2   ;
