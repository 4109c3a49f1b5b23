# A small mail server: 8 threads deliver, read and delete mails.
set $dir=/tmp
set $nfiles=1000

define fileset name=mails,path=$dir,size=16k,entries=$nfiles,dirwidth=100,prealloc=80

define process name=server,instances=1
{
  thread name=worker,memsize=10m,instances=8
  {
    flowop deletefile name=delete,filesetname=mails
    flowop createfile name=deliver,filesetname=mails,fd=1
    flowop appendfilerand name=write,iosize=16k,fd=1
    flowop fsync name=sync,fd=1
    flowop closefile name=close-new,fd=1
    flowop openfile name=open,filesetname=mails,fd=1
    flowop readwholefile name=read,fd=1,iosize=1m
    flowop closefile name=close,fd=1
  }
}

run 30
